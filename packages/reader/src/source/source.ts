/** What is known of a node from its replies: latency, requests in flight, and when not to ask it. */

/** A request in flight; `F` is the decider's type of it. */
export type Flight<F> = {
  readonly source: Source<F>
  /** Set by the driver when it sends the request. */
  abort: AbortController | null
  readonly sentAtMs: number
  /** When the request counts as late. The decider gets one `late` event. */
  lateAtMs: number
  /** When the request counts as failed; infinite: never. */
  readonly endsAtMs: number
}

/** @property flights - The requests in flight, oldest first. */
export type Source<F> = NodeObservations & { readonly flights: F[] }

/** What is known of a node. Written in place. */
export type NodeObservations = {
  /** The name of the node in the genesis; null: a seed that no node has signed as its address. */
  name: string | null
  /** null: not known yet. */
  url: string | null
  /** Configured, and never removed. */
  readonly isSeed: boolean
  /** Usual latency; null: not known. */
  latencyMs: number | null
  /** Answers that `latencyMs` is made of. */
  answerCount: number
  /** Consecutive failures. */
  failureCount: number
  /** Until when the reader asks it last, because it cannot be reached or cannot answer. */
  awayUntilMs: number
  /** Until when the reader asks it last, because it sent an invalid proof. */
  badUntilMs: number
  /** Until when it accepts no requests, by its `retry-after`. */
  refusesUntilMs: number
  /** When the newest of its requests that have ended was sent. */
  newestEndedSentAtMs: number
  /** When it was last asked for its newest certificate, or for its head. */
  polledAtMs: number
  /** Newest offset that it proved. */
  head: number | null
  readonly counters: { requests: number; errors: number; lastError: string | null }
}

/** A client waits no longer for a silent source before it asks another one as well, whatever the source sends meanwhile. */
export const HEDGE_MS_MAX = 150
/** A reader also asks another node when one takes this many times its usual latency. */
export const HEDGE_FACTOR = 3
/** Not before: a pause of either process would double the load. */
const HEDGE_MS_MIN = 50

/** The least weight of one answer in the average. */
const LATENCY_WEIGHT_MIN = 1 / 8
/** Latency assumed of a node that was never asked: as of one on another continent. */
const UNKNOWN_MS = 150
/** It lied, or is broken in a way that its operator has to repair. */
const BAD_MS = 60_000
/**
 * Doubled with each consecutive failure, so that a reader recovers soon after its nodes. `backoffMs` would take the
 * certified bundle of the SDK over its limit.
 */
const AWAY_MS_MIN = 250
const AWAY_MS_MAX = 5000
/** The longest `retry-after` that is respected. */
const RETRY_AFTER_MS_MAX = 60_000

export function createSource<F>(url: string | null, isSeed: boolean): Source<F> {
  const never = Number.NEGATIVE_INFINITY
  return {
    url,
    isSeed,
    name: null,
    flights: [],
    latencyMs: null,
    answerCount: 0,
    failureCount: 0,
    awayUntilMs: never,
    badUntilMs: never,
    refusesUntilMs: never,
    newestEndedSentAtMs: never,
    polledAtMs: never,
    head: null,
    counters: { requests: 0, errors: 0, lastError: null },
  }
}

/** Notes that a request is not in flight any more. Returns false if that is known. */
export function endFlight<F extends Flight<F>>(flight: F): boolean {
  const { flights } = flight.source
  const index = flights.indexOf(flight)
  if (index >= 0) flights.splice(index, 1)
  return index >= 0
}

export function expectedMs({ latencyMs }: NodeObservations): number {
  return latencyMs ?? UNKNOWN_MS
}

/** How long after a request a reader also asks another node. */
export function hedgeMs(source: NodeObservations): number {
  return Math.min(Math.max(HEDGE_FACTOR * expectedMs(source), HEDGE_MS_MIN), HEDGE_MS_MAX)
}

/** The nodes that accept requests: the fastest first, failing ones last. */
export function rankSources<S extends NodeObservations>(sources: readonly S[], nowMs: number): S[] {
  const failurePenalty = ({ badUntilMs, awayUntilMs }: NodeObservations) =>
    badUntilMs > nowMs ? 2 : Number(awayUntilMs > nowMs)
  return sources
    .filter(({ refusesUntilMs }) => refusesUntilMs <= nowMs)
    .sort((a, b) => failurePenalty(a) - failurePenalty(b) || expectedMs(a) - expectedMs(b))
}

/** It answered. @param tookMs - null: it waited for an offset, so that the time is not its latency. */
export function noteAnswer(source: NodeObservations, tookMs: number | null): void {
  source.failureCount = 0
  source.awayUntilMs = Number.NEGATIVE_INFINITY
  if (tookMs === null) return
  const { latencyMs } = source
  // The first answer includes connecting and cold code on both sides, so the second one replaces it.
  const weight = Math.max(LATENCY_WEIGHT_MIN, 1 / Math.max(1, source.answerCount++))
  source.latencyMs = latencyMs === null ? tookMs : latencyMs + (tookMs - latencyMs) * weight
}

/** It has not answered for this long, and may still answer. */
export function noteWaiting(source: NodeObservations, waitedMs: number): void {
  source.latencyMs = Math.max(expectedMs(source), waitedMs)
}

/** It cannot be reached. */
export function noteFailure(source: NodeObservations, reason: string, nowMs: number): void {
  noteError(source, reason)
  source.awayUntilMs = nowMs + Math.min(AWAY_MS_MAX, AWAY_MS_MIN * 2 ** source.failureCount++)
}

/** The node sent an invalid proof. */
export function noteLie(source: NodeObservations, reason: string, nowMs: number): void {
  noteError(source, reason)
  source.badUntilMs = nowMs + BAD_MS
}

/** It replied that it cannot answer. @param reply.retryAfterMs - null: it named no time. */
export function noteUnable(
  source: NodeObservations,
  { reason, retryAfterMs }: { readonly reason: string; readonly retryAfterMs: number | null },
  nowMs: number,
): void {
  noteError(source, reason)
  source.awayUntilMs = nowMs + Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? AWAY_MS_MAX)
}

/** Counts an invalid or missing answer. */
export function noteError({ counters }: NodeObservations, reason: string): void {
  counters.errors++
  counters.lastError = reason
}

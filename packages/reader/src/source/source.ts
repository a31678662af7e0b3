/** A node as its answers show it: how quick it is, what is on its way to it, and when to leave it alone. */

/** A request on its way; `F` is the decider's kind of it. */
export type Flight<F> = {
  readonly source: Source<F>
  readonly sentAtMs: number
  /** From then on it is late, which the decider is told once. */
  lateAtMs: number
  /** From then on it has failed; infinite: never. */
  readonly endsAtMs: number
}

export type Source<F> = Known & { readonly flights: Set<F> }

/** What is known of a node. Written in place. */
export type Known = {
  /** Of the genesis; null: a seed that no node has signed to be its own. */
  name: string | null
  /** null: not known yet. */
  url: string | null
  /** Configured, and kept whatever nodes say of themselves. */
  readonly isSeed: boolean
  /** How long it usually takes to answer; null: not known. */
  latencyMs: number | null
  /** Answers that `latencyMs` is made of. */
  answerCount: number
  /** In a row. */
  failureCount: number
  /** Until when it had better not be asked, because it cannot be reached or cannot answer, */
  awayUntilMs: number
  /** or because it sent what proves nothing. */
  badUntilMs: number
  /** Until when it takes no requests, by its own word. */
  refusesUntilMs: number
  /** When the newest of its requests that have ended was sent. */
  heardSentAtMs: number
  /** When it was last asked for its newest certificate. */
  polledAtMs: number
  /** Newest offset that it proved to have. */
  head: number | null
  readonly counters: { requests: number; errors: number; lastError: string | null }
}

/** Of what the average has by one answer, once there are as many. */
const LATENCY_WEIGHT_MIN = 1 / 8
/** Of a node that was never asked: one on the far side of the world. */
const UNKNOWN_MS = 150
/** It lied, or is broken in a way that a person has to look at. */
const BAD_MS = 60_000
/**
 * Doubled with each failure in a row: a reader is back soon after its nodes. `backoffMs` would take the certified
 * bundle of the SDK over its limit.
 */
const AWAY_MS_MIN = 250
const AWAY_MS_MAX = 5000
/** The longest that a node's own word keeps us from asking it. */
const REFUSAL_MS_MAX = 60_000

export function createSource<F>(url: string | null, isSeed: boolean): Source<F> {
  const never = Number.NEGATIVE_INFINITY
  return {
    url,
    isSeed,
    name: null,
    flights: new Set(),
    latencyMs: null,
    answerCount: 0,
    failureCount: 0,
    awayUntilMs: never,
    badUntilMs: never,
    refusesUntilMs: never,
    heardSentAtMs: never,
    polledAtMs: never,
    head: null,
    counters: { requests: 0, errors: 0, lastError: null },
  }
}

export function expectedMs({ latencyMs }: Known): number {
  return latencyMs ?? UNKNOWN_MS
}

/** Those that take requests: the quickest first, those that had better not be asked last. */
export function rankSources<S extends Known>(sources: readonly S[], nowMs: number): readonly S[] {
  const shunned = ({ badUntilMs, awayUntilMs }: Known) =>
    badUntilMs > nowMs ? 2 : Number(awayUntilMs > nowMs)
  return sources
    .filter(({ refusesUntilMs }) => refusesUntilMs <= nowMs)
    .sort((a, b) => shunned(a) - shunned(b) || expectedMs(a) - expectedMs(b))
}

/** It answered. @param tookMs - null: it had to wait for what we asked, which says nothing of it. */
export function noteAnswer(source: Known, tookMs: number | null): void {
  source.failureCount = 0
  source.awayUntilMs = Number.NEGATIVE_INFINITY
  if (tookMs === null) return
  const { latencyMs } = source
  // The first one connected and met code that had never run, on both sides: the second takes its place.
  const weight = Math.max(LATENCY_WEIGHT_MIN, 1 / Math.max(1, source.answerCount++))
  source.latencyMs = latencyMs === null ? tookMs : latencyMs + (tookMs - latencyMs) * weight
}

/** It has not answered for so long, and may still. */
export function noteWaiting(source: Known, waitedMs: number): void {
  source.latencyMs = Math.max(expectedMs(source), waitedMs)
}

/** It cannot be reached. */
export function noteFailure(source: Known, reason: string, nowMs: number): void {
  noteError(source, reason)
  source.awayUntilMs = nowMs + Math.min(AWAY_MS_MAX, AWAY_MS_MIN * 2 ** source.failureCount++)
}

/** It sent what no honest node sends. */
export function noteLie(source: Known, reason: string, nowMs: number): void {
  noteError(source, reason)
  source.badUntilMs = nowMs + BAD_MS
}

/** It is there, and does not answer. @param refusal.retryAfterMs - null: it did not say for how long. */
export function noteRefusal(
  source: Known,
  { reason, retryAfterMs }: { readonly reason: string; readonly retryAfterMs: number | null },
  nowMs: number,
): void {
  noteError(source, reason)
  source.awayUntilMs = nowMs + Math.min(REFUSAL_MS_MAX, retryAfterMs ?? AWAY_MS_MAX)
}

/** Counts an answer that was none. */
export function noteError({ counters }: Known, reason: string): void {
  counters.errors++
  counters.lastError = reason
}

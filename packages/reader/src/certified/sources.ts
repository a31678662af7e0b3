/** Whom a reader can ask, and in which order: what is known of each address, by its own answers alone. */

export type Source = {
  readonly url: string
  /** Configured, and kept whatever nodes say of themselves. */
  readonly isSeed: boolean
  /** Of the genesis, once the node itself has signed that it is there (D-34); null: a seed, so far. */
  name: string | null
  /** How long it usually takes to answer; null: not known. */
  usualMs: number | null
  /** Answers that `usualMs` is made of. */
  answerCount: number
  /** Until when it is asked last, because it sent what proves nothing, */
  badUntilMs: number
  /** or because it cannot be reached or cannot answer. */
  awayUntilMs: number
  /** Until when it takes no requests, by its own word. */
  refusesUntilMs: number
  /** In a row. */
  failureCount: number
  /** When the newest of its requests that have ended was sent. */
  heardSentAtMs: number
  /** When it was last asked for its newest certificate. */
  polledAtMs: number
  /** Newest offset that it proved to have. */
  head: number | null
  readonly counters: { requests: number; errors: number; lastError: string | null }
}

/** Of what the average has by one answer, once there are as many. */
const USUAL_WEIGHT_MIN = 1 / 8
/** Of a node that was never asked: one on the far side of the world. */
const UNKNOWN_MS = 150
/** It lied, or is broken in a way that a person has to look at. */
const BAD_MS = 60_000
/** Doubled with each failure in a row: a reader is back soon after its nodes. */
const AWAY_MS_MIN = 250
const AWAY_MS_MAX = 5000
/** The longest that a node's own word keeps us from asking it. */
const REFUSAL_MS_MAX = 60_000

export function createSource(url: string, isSeed: boolean): Source {
  const never = Number.NEGATIVE_INFINITY
  return {
    url,
    isSeed,
    name: null,
    usualMs: null,
    answerCount: 0,
    badUntilMs: never,
    awayUntilMs: never,
    refusesUntilMs: never,
    failureCount: 0,
    heardSentAtMs: never,
    polledAtMs: never,
    head: null,
    counters: { requests: 0, errors: 0, lastError: null },
  }
}

export function expectedMs({ usualMs }: Source): number {
  return usualMs ?? UNKNOWN_MS
}

/** Those that take requests: the quickest first, those that had better not be asked last. */
export function rankSources(sources: readonly Source[], nowMs: number): readonly Source[] {
  const shunned = ({ badUntilMs, awayUntilMs }: Source) =>
    badUntilMs > nowMs ? 2 : Number(awayUntilMs > nowMs)
  return sources
    .filter(({ refusesUntilMs }) => refusesUntilMs <= nowMs)
    .sort((a, b) => shunned(a) - shunned(b) || expectedMs(a) - expectedMs(b))
}

/** It answered. @param tookMs - null: it had to wait for what we asked, which says nothing of it. */
export function noteAnswer(source: Source, tookMs: number | null): void {
  source.failureCount = 0
  source.awayUntilMs = Number.NEGATIVE_INFINITY
  if (tookMs === null) return
  const { usualMs } = source
  // The first one connected and met code that had never run, on both sides: the second takes its place.
  const weight = Math.max(USUAL_WEIGHT_MIN, 1 / Math.max(1, source.answerCount++))
  source.usualMs = usualMs === null ? tookMs : usualMs + (tookMs - usualMs) * weight
}

/** It has not answered for so long, and may still. */
export function noteWaiting(source: Source, waitedMs: number): void {
  source.usualMs = Math.max(expectedMs(source), waitedMs)
}

/** It cannot be reached. */
export function noteFailure(source: Source, reason: string, nowMs: number): void {
  noteError(source, reason)
  const awayMs = Math.min(AWAY_MS_MAX, AWAY_MS_MIN * 2 ** source.failureCount++)
  source.awayUntilMs = nowMs + awayMs
}

/** It sent what no honest node sends. */
export function noteLie(source: Source, reason: string, nowMs: number): void {
  noteError(source, reason)
  source.badUntilMs = nowMs + BAD_MS
}

/** @param refusal.retryAfterMs - null: it did not say. */
export function noteRefusal(
  source: Source,
  refusal: {
    readonly reason: string
    readonly isLimit: boolean
    readonly retryAfterMs: number | null
  },
  nowMs: number,
): void {
  noteError(source, refusal.reason)
  const untilMs = nowMs + Math.min(REFUSAL_MS_MAX, refusal.retryAfterMs ?? AWAY_MS_MAX)
  source.awayUntilMs = untilMs
  if (refusal.isLimit) source.refusesUntilMs = untilMs
}

function noteError({ counters }: Source, reason: string): void {
  counters.errors++
  counters.lastError = reason
}

/**
 * The state of a watched name, and the time of the next request. Pure: the driver in `watch.ts` owns clock, timers and
 * requests.
 */
import type { QuorumscanError } from '../errors.ts'
import { instantMs } from '../platform/clock.ts'
import type { Expired, LookupOutcome, Unverified, Watched } from './lookup-types.ts'

type Decided = Extract<LookupOutcome, { readonly entry: unknown }>

export type WatchState = {
  /** The last answer with the owner of the name. */
  readonly decided: Decided | null
  /** The newest outcome since then without an answer. */
  readonly failure: Watched | null
  readonly isAsking: boolean
  readonly askedAtMs: number
  /** Whether the device reported to be offline at the last request. */
  readonly wasOffline: boolean
  readonly asksAtMs: number
  /** Requests without an answer since the last answer. */
  readonly failureCount: number
}
export type WatchEvent =
  | { readonly kind: 'answered'; readonly outcome: LookupOutcome }
  | { readonly kind: 'failed'; readonly error: QuorumscanError }
  | { readonly kind: 'tick' }
  /** The device, the network or the page is active again, or another client accepted a change. */
  | { readonly kind: 'wake' }
  /** The user asks for another request. The one in flight is newer than what is shown, and may be slow: it goes on. */
  | { readonly kind: 'refetch' }

type Now = {
  /** Time of the wall clock. */
  readonly ms: number
  readonly isOffline: boolean
  /** The user does not see the page, so that no further request is sent. */
  readonly isHidden: boolean
}
type Limits = { readonly maxAgeMs: number; readonly pollMs: number }

/** The pause after the first request without an answer. It is doubled with each further one. */
const RETRY_MS_MIN = 1000
/** The longest pause after a request without an answer. */
const RETRY_MS_MAX = 15_000
/** A wake causes no request so soon after the last one. */
const WAKE_MS_MIN = 500

export const NOTHING_KNOWN: WatchState = {
  decided: null,
  failure: null,
  isAsking: false,
  askedAtMs: Number.NEGATIVE_INFINITY,
  wasOffline: false,
  asksAtMs: Number.NEGATIVE_INFINITY,
  failureCount: 0,
}

/** `asks`: a request must be sent, which replaces the one in flight. */
export function step(
  state: WatchState,
  event: WatchEvent,
  { now, limits }: { readonly now: Now; readonly limits: Limits },
): { readonly state: WatchState; readonly asks: boolean } {
  const noRequest = (next: Partial<WatchState>) => ({ state: { ...state, ...next }, asks: false })
  const asking = {
    state: { ...state, isAsking: true, askedAtMs: now.ms, wasOffline: now.isOffline },
    asks: true,
  }
  const failed = (failure: Watched, cause: object, decided = state.decided) => {
    const { failureCount } = state
    const asksAtMs = now.ms + retryMs(cause, failureCount)
    return noRequest({
      decided,
      failure,
      isAsking: false,
      asksAtMs,
      failureCount: failureCount + 1,
    })
  }
  // Failures of an offline device do not count against the nodes, nor before its first request online.
  const countsAsFailure = !now.isOffline && !state.wasOffline
  switch (event.kind) {
    case 'answered': {
      const { outcome } = event
      if ('entry' in outcome) {
        const { entry } = outcome
        // When an entry expires, the name may get another owner.
        const endsAtMs = entry?.expiresAt ? instantMs(entry.expiresAt) : Number.POSITIVE_INFINITY
        const isOver = endsAtMs <= now.ms
        const asksAtMs = isOver ? now.ms + RETRY_MS_MIN : Math.min(now.ms + limits.pollMs, endsAtMs)
        const known = { decided: outcome, failure: null, failureCount: 0 }
        return noRequest({ ...known, isAsking: false, asksAtMs })
      }
      // A dispute invalidates the last answer. Unreachable nodes do not.
      const decided = outcome.kind === 'disputed' ? null : state.decided
      const failure = countsAsFailure || outcome.kind !== 'insufficient' ? outcome : offline(null)
      return failed(failure, outcome, decided)
    }
    case 'failed': {
      const { error } = event
      const failure: Unverified = countsAsFailure
        ? { kind: 'unverified', reason: 'failed', error }
        : offline(error)
      return failed(failure, error)
    }
    case 'wake': {
      const isBack = state.wasOffline && !now.isOffline
      return isBack || now.ms - state.askedAtMs >= WAKE_MS_MIN ? asking : noRequest({})
    }
    case 'refetch':
      return state.isAsking ? noRequest({}) : asking
    case 'tick': {
      // The clock was set back.
      const isFar = state.asksAtMs - now.ms > limits.pollMs + RETRY_MS_MAX
      const isDue = !state.isAsking && (now.ms >= state.asksAtMs || isFar)
      // A page that was opened in the background learns the first answer.
      const isPaused = now.isHidden && state !== NOTHING_KNOWN
      return isDue && !isPaused ? asking : noRequest({})
    }
  }
}

/** What is known now; null: nothing yet. */
export function view({ decided, failure }: WatchState, now: Now, limits: Limits): Watched | null {
  if (decided !== null && now.ms <= oldAtMs(decided, limits)) {
    const isOver = decided.entry?.expiresAt && instantMs(decided.entry.expiresAt) <= now.ms
    return isOver ? ({ ...decided, kind: 'expired' } as Expired) : decided
  }
  if (decided === null && failure === null) return null
  const error = failure?.kind === 'unverified' ? failure.error : null
  if (now.isOffline) return offline(error)
  return failure ?? { kind: 'unverified', reason: 'stale', error: null }
}

function offline(error: QuorumscanError | null): Unverified {
  return { kind: 'unverified', reason: 'offline', error }
}

/** When the next change follows from the time alone. */
export function nextTickMs(
  { decided, isAsking, asksAtMs }: WatchState,
  now: Now,
  limits: Limits,
): number {
  const times = isAsking ? [] : [asksAtMs]
  if (decided !== null) times.push(oldAtMs(decided, limits) + 1)
  if (decided?.entry?.expiresAt) times.push(instantMs(decided.entry.expiresAt))
  return Math.min(...times.filter((ms) => ms > now.ms))
}

function oldAtMs({ recordTime }: Decided, { maxAgeMs }: Limits): number {
  return instantMs(recordTime) + maxAgeMs
}

function retryMs(failure: object, failureCount: number): number {
  const askedMs = 'retryAfterMs' in failure ? Number(failure.retryAfterMs) : 0
  return Math.min(Math.max(askedMs, RETRY_MS_MIN * 2 ** failureCount), RETRY_MS_MAX)
}

/** Whether both are the same for a user. */
export function isSame(a: Watched | null, b: Watched | null): boolean {
  return a === b || (a !== null && b !== null && contentOf(a) === contentOf(b))
}

function contentOf(watched: Watched): string {
  const entry = 'entry' in watched ? watched.entry : null
  const changed = 'changed' in watched ? watched.changed?.previousParty : null
  const reason = 'reason' in watched ? watched.reason : null
  const code = watched.kind === 'unverified' ? watched.error?.code : null
  return JSON.stringify([watched.kind, entry, changed, reason, code])
}

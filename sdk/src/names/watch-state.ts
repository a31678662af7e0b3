/**
 * What is known of a name that is watched, and when it is asked for again. Pure: the driver in `watch.ts` owns clock,
 * timers and requests.
 */
import type { QuorumscanError } from '../errors.ts'
import { instantMs } from '../platform/clock.ts'
import type {
  Absent,
  Expired,
  Found,
  LookupOutcome,
  Mismatch,
  Unverified,
  Watched,
} from './lookups.ts'

type Decided = Found | Absent | Mismatch | Expired

export type WatchState = {
  /** The last answer that says who owns the name. */
  readonly decided: Decided | null
  /** What came instead of an answer since. */
  readonly doubt: Watched | null
  readonly isAsking: boolean
  readonly askedAtMs: number
  /** Whether the device said that it was offline when it last asked. */
  readonly wasOffline: boolean
  readonly asksAtMs: number
}
export type WatchEvent =
  | { readonly kind: 'told'; readonly outcome: LookupOutcome }
  | { readonly kind: 'failed'; readonly error: QuorumscanError }
  | { readonly kind: 'tick' }
  /** The device slept, came back to the network, or the user came back to the page; or somebody else knows more. */
  | { readonly kind: 'wake' }

export type Now = {
  /** Of the wall clock. */
  readonly ms: number
  readonly isOffline: boolean
}
export type Pace = { readonly maxAgeMs: number; readonly pollMs: number }

/** Where there is no answer it is asked again no sooner, */
const RETRY_MS_MIN = 1000
/** and no later. */
const RETRY_MS_MAX = 3000
/** What was asked so shortly before is asked no second time for a wake. */
const WAKE_MS_MIN = 500

export const NOTHING_KNOWN: WatchState = {
  decided: null,
  doubt: null,
  isAsking: false,
  askedAtMs: Number.NEGATIVE_INFINITY,
  wasOffline: false,
  asksAtMs: Number.NEGATIVE_INFINITY,
}

/** `asks`: a request is to be sent; the one before, if it is still under way, is no use any more. */
export function step(
  state: WatchState,
  event: WatchEvent,
  { now, pace }: { readonly now: Now; readonly pace: Pace },
): { readonly state: WatchState; readonly asks: boolean } {
  const quiet = (next: Partial<WatchState>) => ({ state: { ...state, ...next }, asks: false })
  const asking = {
    state: { ...state, isAsking: true, askedAtMs: now.ms, wasOffline: now.isOffline },
    asks: true,
  }
  // Whom an offline device does not reach is not to blame, nor once it is back, until it has asked again.
  const blames = !now.isOffline && !state.wasOffline
  switch (event.kind) {
    case 'told': {
      const { outcome } = event
      if (isDecided(outcome)) {
        const { entry } = outcome
        // The moment that an entry ends it may be somebody else's.
        const endsAtMs = entry?.expiresAt ? instantMs(entry.expiresAt) : Number.POSITIVE_INFINITY
        const isOver = endsAtMs <= now.ms
        const asksAtMs = isOver ? now.ms + RETRY_MS_MIN : Math.min(now.ms + pace.pollMs, endsAtMs)
        return quiet({ decided: outcome, doubt: null, isAsking: false, asksAtMs })
      }
      // Nodes that contradict each other end all believing; that they cannot be reached does not.
      const decided = outcome.kind === 'disputed' ? null : state.decided
      const doubt = blames || outcome.kind !== 'insufficient' ? outcome : offline(null)
      return quiet({ decided, doubt, isAsking: false, asksAtMs: again(outcome, now) })
    }
    case 'failed': {
      const { error } = event
      const doubt: Unverified = blames
        ? { kind: 'unverified', reason: 'failed', error }
        : offline(error)
      return quiet({ doubt, isAsking: false, asksAtMs: again(error, now) })
    }
    case 'wake': {
      const isBack = state.wasOffline && !now.isOffline
      return isBack || now.ms - state.askedAtMs >= WAKE_MS_MIN ? asking : quiet({})
    }
    case 'tick': {
      // A clock that was set back says nothing of how long ago it was.
      const isFar = state.asksAtMs - now.ms > pace.pollMs + RETRY_MS_MAX
      return !state.isAsking && (now.ms >= state.asksAtMs || isFar) ? asking : quiet({})
    }
  }
}

/** What holds now; null: nothing is known yet. */
export function view({ decided, doubt }: WatchState, now: Now, pace: Pace): Watched | null {
  if (decided !== null && now.ms <= oldAtMs(decided, pace)) {
    const isOver = decided.entry?.expiresAt && instantMs(decided.entry.expiresAt) <= now.ms
    return isOver ? ({ ...decided, kind: 'expired' } as Expired) : decided
  }
  if (decided === null && doubt === null) return null
  const error = doubt?.kind === 'unverified' ? doubt.error : null
  if (now.isOffline) return offline(error)
  return doubt ?? { kind: 'unverified', reason: 'stale', error: null }
}

function offline(error: QuorumscanError | null): Unverified {
  return { kind: 'unverified', reason: 'offline', error }
}

/** When something follows from the time alone. */
export function nextTickMs(
  { decided, isAsking, asksAtMs }: WatchState,
  now: Now,
  pace: Pace,
): number {
  const times = isAsking ? [] : [asksAtMs]
  if (decided !== null) times.push(oldAtMs(decided, pace) + 1)
  if (decided?.entry?.expiresAt) times.push(instantMs(decided.entry.expiresAt))
  return Math.min(...times.filter((ms) => ms > now.ms))
}

function oldAtMs({ recordTime }: Decided, { maxAgeMs }: Pace): number {
  return instantMs(recordTime) + maxAgeMs
}

function isDecided(outcome: LookupOutcome): outcome is Decided {
  return 'entry' in outcome
}

function again(said: object, now: Now): number {
  const asked = 'retryAfterMs' in said ? Number(said.retryAfterMs) : 0
  return now.ms + Math.min(Math.max(asked, RETRY_MS_MIN), RETRY_MS_MAX)
}

/** Whether it says the same to a person. */
export function isSame(a: Watched | null, b: Watched | null): boolean {
  return a === b || (a !== null && b !== null && says(a) === says(b))
}

function says(watched: Watched): string {
  const entry = 'entry' in watched ? watched.entry : null
  const changed = 'changed' in watched ? watched.changed?.previousParty : null
  const reason = 'reason' in watched ? watched.reason : null
  const code = watched.kind === 'unverified' ? watched.error?.code : null
  return JSON.stringify([watched.kind, entry, changed, reason, code])
}

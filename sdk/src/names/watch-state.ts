/**
 * The state of what is watched, and the time of the next request. Pure: the driver in `watch.ts` owns clock, timers and
 * requests. This is the only place that decides whether an answer is recent (`Shown`).
 */
import { type ErrorCode, type QuorumscanError, transient } from '../errors.ts'
import type { KnownError } from '../known-errors.ts'
import { instantMs } from '../platform/times.ts'
import type { Basis, NameChange } from './lookup-types.ts'
import type { Shown } from './shown.ts'

/** The answer to one request. */
export type Reading<T> = {
  readonly value: T | null
  readonly basis: Basis
  readonly recordTime: string | null
  /** When the value ends; null: never. */
  readonly validUntil: string | null
  /** How far the clock is proven to be behind, unless it is corrected already. */
  readonly clockSkewMs: number | null
  readonly changed: NameChange | null
}

type Decided<T> = Reading<T> & {
  /** By the monotonic clock. */
  readonly arrivedAtMs: number
  /** When it was made, and how old it was when it came. */
  readonly madeAtMs: number
  readonly ageMs: number
}

export type WatchState<T> = {
  /** The last answer. */
  readonly decided: Decided<T> | null
  /** The newest failure since then. */
  readonly failure: QuorumscanError | null
  readonly isAsking: boolean
  readonly askedAtMs: number
  /** Whether the device reported to be offline at the last request. */
  readonly wasOffline: boolean
  readonly asksAtMs: number
  /** Requests without an answer since the last answer. */
  readonly failureCount: number
}
export type WatchEvent<T> =
  | { readonly kind: 'answered'; readonly reading: Reading<T> }
  | { readonly kind: 'failed'; readonly error: QuorumscanError }
  | { readonly kind: 'tick' }
  /** The device, the network or the page is active again, or another client accepted a change. */
  | { readonly kind: 'wake' }
  /** The user asks for another request. The one in flight is newer than what is shown, and may be slow: it goes on. */
  | { readonly kind: 'refetch' }

export type Now = {
  /** Time of the wall clock. */
  readonly ms: number
  readonly monotonicMs: number
  readonly isOffline: boolean
  /** The user does not see the page, so that no further request is sent. */
  readonly isHidden: boolean
}
export type Limits = { readonly maxAgeMs: number; readonly pollMs: number }

/** The pause after the first request without an answer. It is doubled with each further one. */
const RETRY_MS_MIN = 1000
/** The longest pause after a request without an answer. */
const RETRY_MS_MAX = 15_000
/** A wake causes no request so soon after the last one. */
const WAKE_MS_MIN = 500

/** Failures that say that the last answer no longer holds. Those of unreachable or late nodes do not. */
const DECISIVE: ReadonlySet<ErrorCode> = new Set([
  'CONSENSUS_DISPUTED',
  'NAME_EXPIRED',
  'NAME_MISMATCH',
  'NAME_AMBIGUOUS',
  'NAME_CLAIMED',
])

export function nothingKnown<T>(): WatchState<T> {
  return {
    decided: null,
    failure: null,
    isAsking: false,
    askedAtMs: Number.NEGATIVE_INFINITY,
    wasOffline: false,
    asksAtMs: Number.NEGATIVE_INFINITY,
    failureCount: 0,
  }
}

/** `asks`: a request must be sent, which replaces the one in flight. */
export function step<T>(
  state: WatchState<T>,
  event: WatchEvent<T>,
  { now, limits }: { readonly now: Now; readonly limits: Limits },
): { readonly state: WatchState<T>; readonly asks: boolean } {
  const noRequest = (next: Partial<WatchState<T>>) => ({
    state: { ...state, ...next },
    asks: false,
  })
  const asking = {
    state: { ...state, isAsking: true, askedAtMs: now.ms, wasOffline: now.isOffline },
    asks: true,
  }
  switch (event.kind) {
    case 'answered': {
      const decided = decidedAt(event.reading, now)
      // When an entry expires, the name may get another owner.
      const endsInMs = leftMs(decided, now)
      const asksAtMs = now.ms + (endsInMs <= 0 ? RETRY_MS_MIN : Math.min(limits.pollMs, endsInMs))
      return noRequest({ decided, failure: null, failureCount: 0, isAsking: false, asksAtMs })
    }
    case 'failed': {
      const { error } = event
      const isDecisive = DECISIVE.has(error.code)
      // Failures of an offline device do not count against the nodes, nor before its first request online.
      const isCounted = isDecisive || !(now.isOffline || state.wasOffline)
      return noRequest({
        decided: isDecisive ? null : state.decided,
        failure: isCounted ? error : offline(error),
        isAsking: false,
        asksAtMs: now.ms + retryMs(error, state.failureCount),
        failureCount: isDecisive ? 0 : state.failureCount + 1,
      })
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
      const isFirst = state.askedAtMs === Number.NEGATIVE_INFINITY
      return isDue && (isFirst || !now.isHidden) ? asking : noRequest({})
    }
  }
}

/** What is known now. */
export function view<T>({ decided, failure }: WatchState<T>, now: Now, limits: Limits): Shown<T> {
  const error = now.isOffline ? offline(failure) : failure
  if (decided === null)
    return failure === null && !now.isOffline
      ? { kind: 'pending' }
      : { kind: 'failed', error: known(error as QuorumscanError) }
  const { value, basis, recordTime, validUntil, changed } = decided
  if (value !== null && leftMs(decided, now) <= 0)
    return { kind: 'failed', error: known(expired(value, validUntil)) }
  if (ageMs(decided, now) > limits.maxAgeMs)
    return { kind: 'stale', value, recordTime, error: error && known(error) }
  if (changed !== null && value !== null) return { kind: 'changed', value, previous: changed }
  return { kind: 'proven', value, basis, recordTime, validUntil }
}

/** When the next change follows from the time alone. */
export function nextTickMs<T>(
  { decided, isAsking, asksAtMs }: WatchState<T>,
  now: Now,
  limits: Limits,
): number {
  const times = isAsking ? [] : [asksAtMs]
  if (decided !== null) {
    times.push(now.ms + limits.maxAgeMs - ageMs(decided, now) + 1)
    times.push(now.ms + leftMs(decided, now))
  }
  return Math.min(...times.filter((ms) => ms > now.ms))
}

function decidedAt<T>(reading: Reading<T>, { ms, monotonicMs }: Now): Decided<T> {
  const { recordTime, clockSkewMs } = reading
  const nowMs = ms + (clockSkewMs ?? 0)
  const madeAtMs = recordTime === null ? nowMs : instantMs(recordTime)
  return { ...reading, arrivedAtMs: monotonicMs, madeAtMs, ageMs: nowMs - madeAtMs }
}

/** The longer one by both clocks: the wall clock may be set back, and the monotonic one may stop while the device sleeps. */
function ageMs<T>(decided: Decided<T>, { ms, monotonicMs }: Now): number {
  const { madeAtMs, arrivedAtMs, clockSkewMs } = decided
  const sinceMs = monotonicMs - arrivedAtMs
  return Math.max(ms + (clockSkewMs ?? 0) - madeAtMs, decided.ageMs + sinceMs)
}

/** How long the value still holds, in ms. */
function leftMs<T>(decided: Decided<T>, now: Now): number {
  const { validUntil, madeAtMs } = decided
  if (validUntil === null) return Number.POSITIVE_INFINITY
  return instantMs(validUntil) - (madeAtMs + ageMs(decided, now))
}

function offline(cause: QuorumscanError | null): QuorumscanError {
  if (cause?.code === 'OFFLINE') return cause
  return transient('OFFLINE', 'This device is offline.', { cause })
}

function expired(value: unknown, validUntil: string | null): QuorumscanError {
  const message = `It expired at ${validUntil}, by the clock of this device or by proven time. Do not pay to it.`
  return transient('NAME_EXPIRED', message, { details: { entry: value } })
}

/** The code of an error of the SDK decides on its details. */
function known(error: QuorumscanError): KnownError {
  return error as KnownError
}

function retryMs({ retryAfterMs }: QuorumscanError, failureCount: number): number {
  return Math.min(Math.max(retryAfterMs ?? 0, RETRY_MS_MIN * 2 ** failureCount), RETRY_MS_MAX)
}

/** Whether both are the same for a user. A newer record time alone is not shown. */
export function isSame<T>(a: Shown<T>, b: Shown<T> | null): boolean {
  return b !== null && contentOf(a) === contentOf(b)
}

function contentOf<T>(shown: Shown<T>): string {
  const { kind } = shown
  if (kind === 'failed') return JSON.stringify([kind, shown.error.code])
  if (kind === 'pending') return kind
  const value = { ...shown.value, ...UNSEEN }
  if (kind === 'changed') return JSON.stringify([kind, value, shown.previous.previousParty])
  if (kind === 'stale') return JSON.stringify([kind, value, shown.error?.code])
  return JSON.stringify([kind, shown.value && value, shown.basis, shown.validUntil])
}

/** Members of values that differ in each answer. */
const UNSEEN = { recordTime: null, receipt: null, clockSkewMs: null, changed: null }

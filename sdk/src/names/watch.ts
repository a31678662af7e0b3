/** Drives `watch-state.ts`: sends requests, owns the timers, and receives broadcasts of other clients. */
import { onAbort } from '@quorumscan/verifier'
import { isQuorumscanError, type QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { deviceState } from '../platform/page.ts'
import { onBroadcast, onWake } from '../platform/page-events.ts'
import type { WatchOptions } from './lookup-types.ts'
import type { Shown } from './shown.ts'
import {
  isSame,
  nextTickMs,
  nothingKnown,
  type Reading,
  step,
  view,
  type WatchEvent,
} from './watch-state.ts'

/** D-39. */
const MAX_AGE_MS = 60_000
/** The longest timer, so that a sleep of the device is noticed soon. */
const TIMER_MS_MAX = 1000
/** A timer that is later than this shows that the device slept. */
const SLEPT_MS = 2000
const STEP_ENDED = new Error('a step of the watch has ended')

/**
 * Yields what is known: the first answer or failure, and then each change.
 *
 * @throws {QuorumscanError} An error that a retry cannot change. @throws The reason of an aborted signal.
 */
export async function* watchShown<T>(
  options: Pick<WatchOptions, 'signal' | 'onStart' | 'maxAgeMs'> & {
    readonly clock: Clock
    readonly pollMs: number
    /** @throws {QuorumscanError} Without an answer. */
    read(signal: AbortSignal): Promise<Reading<T>>
    /** Key of the channel on which clients announce accepted changes. */
    channel(): Promise<string>
    /** Whether an accepted change of this name concerns what is watched. */
    isOf(name: unknown): boolean
    /** Whether an error ends the watch. Default: those that a retry cannot change. */
    isFatal?(error: QuorumscanError): boolean
  },
): AsyncGenerator<Shown<T>, never> {
  const { clock, read, channel, isOf, signal, pollMs, onStart, maxAgeMs = MAX_AGE_MS } = options
  const { isFatal = ({ retryable }: QuorumscanError) => !retryable } = options
  const limits = { pollMs, maxAgeMs }
  const closing = new AbortController()
  let state = nothingKnown<T>()
  let asking: AbortController | null = null
  /** Ends the wait of the loop below. */
  let notice = () => {}
  let fatal: unknown = null

  const now = () => ({
    ...deviceState(),
    ms: clock.nowMicros() / 1000,
    monotonicMs: clock.monotonicMs(),
  })
  const apply = (event: WatchEvent<T>): void => {
    const stepped = step(state, event, { now: now(), limits })
    state = stepped.state
    if (stepped.asks) void ask()
    notice()
  }
  const ask = async (): Promise<void> => {
    asking?.abort(STEP_ENDED)
    const own = new AbortController()
    asking = own
    try {
      const reading = await read(own.signal)
      if (asking === own) apply({ kind: 'answered', reading })
    } catch (error) {
      if (asking !== own) return
      if (isQuorumscanError(error) && !isFatal(error)) apply({ kind: 'failed', error })
      else {
        fatal = error
        notice()
      }
    }
  }

  onWake(() => apply({ kind: 'wake' }), closing.signal)
  const onAccepted = (changed: unknown) => {
    if (isOf(changed)) apply({ kind: 'wake' })
  }
  const listen = (key: string) => onBroadcast(key, onAccepted, closing.signal)
  channel().then(listen, () => {}) // Without a channel no broadcast arrives.
  try {
    let reported: Shown<T> | null = null
    apply({ kind: 'tick' })
    onStart?.(() => {
      if (!closing.signal.aborted) apply({ kind: 'refetch' })
    })
    for (;;) {
      signal?.throwIfAborted()
      if (fatal !== null) throw fatal
      const seen = view(state, now(), limits)
      // A first request of an offline device may still reach nodes on it.
      const isFirst = reported === null && state.decided === null && state.failure === null
      if (seen.kind !== 'pending' && !isFirst && !isSame(seen, reported)) {
        reported = seen
        yield seen
        apply({ kind: 'tick' }) // The consumer has taken time.
        continue
      }
      const startedAtMs = now().ms
      const tickMs = nextTickMs(state, now(), limits) - startedAtMs
      const waitMs = Math.max(1, Math.min(tickMs, TIMER_MS_MAX))
      const waiting = new AbortController()
      const noticed = new Promise<void>((resolve) => {
        notice = resolve
      })
      const forget = signal && onAbort(signal, () => notice())
      const timer = clock.delay(waitMs, waiting.signal).then(() => {
        const lateMs = now().ms - startedAtMs - waitMs
        apply({ kind: lateMs > SLEPT_MS ? 'wake' : 'tick' })
      })
      await Promise.race([noticed, timer.catch(() => {})]) // The abort below ends it.
      waiting.abort(STEP_ENDED)
      forget?.()
    }
  } finally {
    closing.abort(STEP_ENDED)
    const left = asking as AbortController | null
    asking = null
    left?.abort(STEP_ENDED)
  }
}

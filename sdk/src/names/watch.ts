/** Drives `watch-state.ts`: sends requests, owns the timers, and receives broadcasts of other clients. */
import { isQuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { onAbort } from '../platform/deadline.ts'
import { deviceState, onBroadcast, onWake } from '../platform/page.ts'
import type { LookupOptions, LookupOutcome, Watched, WatchOptions } from './lookup-types.ts'
import { isSame, NOTHING_KNOWN, nextTickMs, step, view, type WatchEvent } from './watch-state.ts'

/** D-39. */
const MAX_AGE_MS = 60_000
/** The distance of certifiable offsets (D-49), so that no change waits for a third one. */
const POLL_MS = 250
/** The longest timer, so that a sleep of the device is noticed soon. */
const TIMER_MS_MAX = 1000
/** A timer that is later than this shows that the device slept. */
const SLEPT_MS = 2000
const STEP_ENDED = new Error('a step of the watch has ended')

/**
 * Yields what is known of a name: at first, and then at each change.
 *
 * @param name - As `lookup` takes it.
 * @throws {QuorumscanError} An error that a retry cannot change. @throws The reason of an aborted signal.
 */
export async function* watchName(
  name: string,
  options: WatchOptions & {
    readonly clock: Clock
    lookup(
      name: string,
      options: LookupOptions & { readonly expectParty?: string; readonly receipt: false },
    ): Promise<LookupOutcome>
    /** Key of the channel on which clients that share a store announce accepted changes. */
    channel(): Promise<string>
  },
): AsyncGenerator<Watched, never> {
  const { clock, lookup, channel, signal, pollMs = POLL_MS, onStart, ...asked } = options
  const limits = { pollMs, maxAgeMs: asked.maxAgeMs ?? MAX_AGE_MS }
  const closing = new AbortController()
  let state = NOTHING_KNOWN
  let asking: AbortController | null = null
  /** Ends the wait of the loop below. */
  let notice = () => {}
  let fatal: unknown = null

  const now = () => ({ ...deviceState(), ms: clock.nowMicros() / 1000 })
  const apply = (event: WatchEvent): void => {
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
      const bounds = { ...asked, receipt: false, signal: own.signal } as const
      const outcome = await lookup(name, bounds)
      if (asking === own) apply({ kind: 'answered', outcome })
    } catch (error) {
      if (asking !== own) return
      if (isQuorumscanError(error) && error.retryable) apply({ kind: 'failed', error })
      else {
        fatal = error
        notice()
      }
    }
  }

  onWake(() => apply({ kind: 'wake' }), closing.signal)
  const onAccepted = (changed: unknown) => {
    if (changed === name) apply({ kind: 'wake' })
  }
  const listen = (key: string) => onBroadcast(key, onAccepted, closing.signal)
  channel().then(listen, () => {}) // Without a channel no broadcast arrives.
  try {
    let reported: Watched | null = null
    apply({ kind: 'tick' })
    onStart?.(() => {
      if (!closing.signal.aborted) apply({ kind: 'refetch' })
    })
    for (;;) {
      signal?.throwIfAborted()
      if (fatal !== null) throw fatal
      const seen = view(state, now(), limits)
      if (seen !== null && !isSame(seen, reported)) {
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

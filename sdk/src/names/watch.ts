/** Drives `watch-state.ts`: asks, keeps time, and hears what others tell. */
import { isQuorumscanError, type QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { onAbort } from '../platform/deadline.ts'
import { hearOthers } from '../platform/others.ts'
import { isOffline, onWake } from '../platform/wake.ts'
import type { LookupOptions, LookupOutcome, Watched, WatchOptions } from './lookups.ts'
import { isSame, NOTHING_KNOWN, nextTickMs, step, view, type WatchEvent } from './watch-state.ts'

/** D-39. */
const MAX_AGE_MS = 60_000
/** Certifiable offsets are as far apart (D-49), so that no change waits for a third one. */
const POLL_MS = 250
/** A timer that is set for longer would not show that the device slept meanwhile. */
const TIMER_MS_MAX = 1000
/** A timer that is later than this says that it did. */
const SLEPT_MS = 2000
const OVER = new Error('over')

/**
 * What holds of a name, from now on: first what is known, then whenever it says something else.
 *
 * @param name - As `lookup` takes it.
 * @throws {QuorumscanError} What no further asking can change. @throws The reason of an aborted signal.
 */
export async function* watchName(
  name: string,
  options: WatchOptions & {
    readonly clock: Clock
    lookup(
      name: string,
      options: LookupOptions & { readonly expectParty?: string; readonly receipt: false },
    ): Promise<LookupOutcome>
    /** Of the channel by which clients that share a store say that a change was accepted; null: they have none. */
    channel(): Promise<string>
  },
): AsyncGenerator<Watched, never> {
  const { clock, lookup, channel, signal, pollMs = POLL_MS, ...asked } = options
  const pace = { pollMs, maxAgeMs: asked.maxAgeMs ?? MAX_AGE_MS }
  const closing = new AbortController()
  let state = NOTHING_KNOWN
  let asking: AbortController | null = null
  /** Ends the wait of the loop below. */
  let notice = () => {}
  let fatal: unknown = null

  const now = () => ({ ms: clock.nowMicros() / 1000, isOffline: isOffline() })
  const tell = (event: WatchEvent): void => {
    const stepped = step(state, event, { now: now(), pace })
    state = stepped.state
    if (stepped.asks) void ask()
    notice()
  }
  const ask = async (): Promise<void> => {
    asking?.abort(OVER)
    const own = new AbortController()
    asking = own
    try {
      const bounds = { ...asked, receipt: false, signal: own.signal } as const
      const outcome = await lookup(name, bounds)
      if (asking === own) tell({ kind: 'told', outcome })
    } catch (error) {
      if (asking !== own) return
      if (isQuorumscanError(error) && error.retryable)
        tell({ kind: 'failed', error: error as QuorumscanError })
      else {
        fatal = error
        notice()
      }
    }
  }

  onWake(() => tell({ kind: 'wake' }), closing.signal)
  const hear = (changed: unknown) => {
    if (changed === name) tell({ kind: 'wake' })
  }
  channel().then(
    (key) => hearOthers(key, hear, closing.signal),
    () => {},
  ) // Nobody to hear.
  try {
    let shown: Watched | null = null
    tell({ kind: 'tick' })
    for (;;) {
      signal?.throwIfAborted()
      if (fatal !== null) throw fatal
      const seen = view(state, now(), pace)
      if (seen !== null && !isSame(seen, shown)) {
        shown = seen
        yield seen
        tell({ kind: 'tick' }) // Time has passed meanwhile.
        continue
      }
      const startedAtMs = now().ms
      const waitMs = Math.max(
        1,
        Math.min(nextTickMs(state, now(), pace) - startedAtMs, TIMER_MS_MAX),
      )
      const waiting = new AbortController()
      const noticed = new Promise<void>((resolve) => {
        notice = resolve
      })
      const forget = signal && onAbort(signal, () => notice())
      const timer = clock.delay(waitMs, waiting.signal).then(() => {
        const lateMs = now().ms - startedAtMs - waitMs
        tell({ kind: lateMs > SLEPT_MS ? 'wake' : 'tick' })
      })
      await Promise.race([noticed, timer.catch(() => {})]) // It is ended below.
      waiting.abort(OVER)
      forget?.()
    }
  } finally {
    closing.abort(OVER)
    const left = asking as AbortController | null
    asking = null
    left?.abort(OVER)
  }
}

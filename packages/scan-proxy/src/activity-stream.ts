/**
 * The WebSocket of activities: a frame names an offset once the ledger has changed. It proves nothing and holds no row:
 * a client reads a page at that offset, with its proof. So a lying stream can only make a client read in vain, or wait
 * for the next frame.
 *
 * Not in the specification: frames follow the local replica. Where it does not follow the log, they come every 15 s.
 */
import { type Openers, socketRoutes } from '@quorumscan/api'
import { type Clock, withTimeout } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import type { ApiSocket } from '@quorumscan/server'

/** The longest time between frames: the page that is read then shows that no update was withheld. */
const FRAME_INTERVAL_MS = 15_000
/** The time between two frames of one stream: short for a person, and a busy ledger costs five pages a second. */
const PAUSE_MS = 200
/** A frame costs as much as a lookup. */
const FRAME_UNITS = 1

type ActivityStreamDeps = {
  readonly feed: {
    /** The newest offset that changed the ledger. */
    lastUpdate(): Offset
    /** Ends when a later offset changes it. Rejects with the signal's reason. */
    waitForUpdate(after: Offset, signal: AbortSignal): Promise<void>
  }
  readonly clock: Clock
}

/** What the scan proxy offers over WebSocket, public as its routes are (D-26, D-32). */
export function scanProxySockets(deps: ActivityStreamDeps): readonly ApiSocket[] {
  const openers: Openers<'/v0/', ApiSocket['open']> = {
    streamActivities: async (caller) => activityStream(deps, caller),
  }
  return Object.entries(openers).map(([id, open]) => ({
    ...socketRoutes[id as keyof typeof openers],
    open,
  }))
}

/**
 * Frames until the signal aborts, the first at once.
 *
 * @param caller.charge - Takes units off the budget of the caller; its errors are passed on.
 */
export async function* activityStream(
  deps: ActivityStreamDeps,
  caller: { readonly charge: (units: number) => void; readonly signal: AbortSignal },
): AsyncGenerator<readonly string[], void, undefined> {
  const { feed, clock } = deps
  const { charge, signal } = caller
  for (;;) {
    signal.throwIfAborted()
    charge(FRAME_UNITS)
    const offset = feed.lastUpdate()
    yield [JSON.stringify({ offset })]
    await clock.delay(PAUSE_MS, signal)
    const news = (ending: AbortSignal) => feed.waitForUpdate(offset, ending)
    await withTimeout({ clock, timeoutMs: FRAME_INTERVAL_MS - PAUSE_MS, signal }, news, () => {})
  }
}

/**
 * When there may be more activities: a frame once the ledger has changed. It proves nothing, and holds no row: who
 * hears of an offset reads a page there, with its proof. So whoever lies here can only make others read in vain, or
 * wait for the next frame.
 *
 * Spec silent: frames follow the own replica. Where it does not follow the log, they come every 15 s.
 */
import { type Clock, within } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'

/** A frame comes at least so often: the page that is read then shows that nothing was held back. */
const FRAME_INTERVAL_MS = 15_000
/** Between two frames of one stream: a person does not see it, and a busy ledger costs five pages a second. */
const PAUSE_MS = 200
/** Takes as much as a lookup. */
const FRAME_UNITS = 1

export type ActivityStreamDeps = {
  readonly feed: {
    /** The newest offset that changed the ledger. */
    lastUpdate(): Offset
    /** Ends when a later offset changes it. Rejects with the signal's reason. */
    waitForUpdate(after: Offset, signal: AbortSignal): Promise<void>
  }
  readonly clock: Clock
}

/**
 * Frames for as long as the signal lets it, the first at once.
 *
 * @param asker.charge - Takes units off the asker's budget; its errors are passed on.
 */
export async function* activityStream(
  deps: ActivityStreamDeps,
  asker: { readonly charge: (units: number) => void; readonly signal: AbortSignal },
): AsyncGenerator<readonly string[], void, undefined> {
  const { feed, clock } = deps
  const { charge, signal } = asker
  for (;;) {
    signal.throwIfAborted()
    charge(FRAME_UNITS)
    const offset = feed.lastUpdate()
    yield [JSON.stringify({ offset })]
    await clock.delay(PAUSE_MS, signal)
    const news = (ending: AbortSignal) => feed.waitForUpdate(offset, ending)
    await within({ clock, timeoutMs: FRAME_INTERVAL_MS - PAUSE_MS, signal }, news, () => {})
  }
}

/** Signs that a device or a page is back: the network, the user, a page out of the browser's cache. */
import { page } from './page.ts'

/** Calls until the signal aborts; nothing where the platform has no such events. */
export function onWake(run: () => void, signal: AbortSignal): void {
  for (const event of ['online', 'pageshow', 'focus'])
    page.addEventListener?.(event, run, { signal })
  page.document?.addEventListener(
    'visibilitychange',
    () => {
      if (page.document?.visibilityState === 'visible') run()
    },
    { signal },
  )
}

/** Whether the device says that it has no network; what is asked then may still be on this machine. */
export function isOffline(): boolean {
  return page.navigator?.onLine === false
}

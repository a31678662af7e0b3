/**
 * What the SDK uses of a page, by types of its own, so that it compiles in projects without DOM types. Each member may
 * be missing: Node and workers have only some of them.
 */
type Page = {
  readonly addEventListener?: (
    event: string,
    listener: (event: { readonly key?: string | null }) => void,
  ) => void
  readonly removeEventListener?: (event: string, listener: () => void) => void
  readonly document?: Pick<Page, 'addEventListener' | 'removeEventListener'> & {
    readonly visibilityState: string
  }
  readonly navigator?: { readonly onLine?: boolean }
}

export const page: Page = globalThis as Page

const WAKING = ['online', 'pageshow', 'focus']

/** Calls when the device or the page is active again: network, user, or a page out of the browser's cache. */
export function onWake(run: () => void, signal: AbortSignal): void {
  if (signal.aborted) return
  const { document } = page
  const onVisible = () => {
    if (!deviceState().isHidden) run()
  }
  for (const event of WAKING) page.addEventListener?.(event, run)
  document?.addEventListener?.('visibilitychange', onVisible)
  // Not by the option `signal`: jsdom accepts only signals of its own there.
  const remove = () => {
    for (const event of WAKING) page.removeEventListener?.(event, run)
    document?.removeEventListener?.('visibilitychange', onVisible)
  }
  signal.addEventListener('abort', remove, { once: true })
}

export function deviceState() {
  return {
    /** The device reports that it has no network. Servers on this device may still answer. */
    isOffline: page.navigator?.onLine === false,
    /** The user does not see the page, such as in a background tab. */
    isHidden: page.document?.visibilityState === 'hidden',
  }
}

/** Sends a text to clients with the same key, also in other tabs of the page, if the platform has channels. */
export function broadcast(key: string, text: string): void {
  if (typeof BroadcastChannel === 'undefined') return
  const channel = new BroadcastChannel(key)
  channel.postMessage(text)
  channel.close()
}

/** Receives texts of other clients until the signal aborts. It does not keep a process alive. */
export function onBroadcast(
  key: string,
  onText: (text: unknown) => void,
  signal: AbortSignal,
): void {
  if (typeof BroadcastChannel === 'undefined' || signal.aborted) return
  const channel = new BroadcastChannel(key)
  channel.onmessage = ({ data }) => onText(data)
  ;(channel as { unref?(): void }).unref?.()
  signal.addEventListener('abort', () => channel.close(), { once: true })
}

/** The channel of accepted changes of owner, whichever their network and store. */
export const ACCEPTED = 'quorumscan:accepted'

/** @param key - Of the network in the store. */
export function announceAccepted(key: string, name: string): void {
  broadcast(key, name)
  broadcast(ACCEPTED, name)
}

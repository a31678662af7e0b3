/** Events of a page, and messages between its tabs. */
import { deviceState, page } from './page.ts'

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

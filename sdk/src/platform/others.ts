/** What clients of one network tell each other, also those in other tabs of the page. */

/** Where the platform has no channels, nobody is told. */
export function tellOthers(key: string, text: string): void {
  if (typeof BroadcastChannel === 'undefined') return
  const channel = new BroadcastChannel(key)
  channel.postMessage(text)
  channel.close()
}

/** Hears what others tell until the signal aborts. It keeps no process running. */
export function hearOthers(key: string, hear: (text: unknown) => void, signal: AbortSignal): void {
  if (typeof BroadcastChannel === 'undefined' || signal.aborted) return
  const channel = new BroadcastChannel(key)
  channel.onmessage = ({ data }) => hear(data)
  ;(channel as { unref?(): void }).unref?.()
  signal.addEventListener('abort', () => channel.close(), { once: true })
}

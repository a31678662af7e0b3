/** Writes of a device without a network: they fail at once, and nothing sends them later. */
import { type QuorumscanError, transient } from '../errors.ts'
import { deviceState } from './page.ts'

const LOCAL_URL = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])([:/]|$)/

/** The error of a write to the server now; null: it may be sent. A server on this device needs no network. */
export function offlineError(url: string): QuorumscanError | null {
  if (!deviceState().isOffline || LOCAL_URL.test(url)) return null
  return transient('OFFLINE', 'This device is offline. Nothing is sent until you try again.')
}

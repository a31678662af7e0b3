/** Which URLs a node may be reached at. */

const NODE_URL_LENGTH_MAX = 255
const LOOPBACK = /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
// IPv4 that is private, link-local, shared, unspecified or for documentation and tests; the URL parser
// has already brought every spelling of an address into this form.
const PRIVATE_IPV4 =
  /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168|192\.0\.[02]|198\.1[89]|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|2(?:2[4-9]|[3-5]\d))\./
// Unspecified, loopback and mapped, unique local, link-local, multicast.
const PRIVATE_IPV6 = /^\[(?:::|f[cd]|fe[89ab]|ff|64:ff9b:)/

/**
 * A node's base address without trailing slash.
 *
 * @returns undefined unless it is http or https without credentials, query and fragment, and at most
 *   255 characters; and, where `allowPrivate` is false, no loopback, private or single-label host.
 *   What a public name resolves to is for the transport to look at.
 */
export function parseNodeUrl(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > NODE_URL_LENGTH_MAX || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const address = url.origin + url.pathname
  if (!/^https?:/.test(address) || url.href !== address) return undefined
  if (!allowPrivate && isPrivateHost(url.hostname)) return undefined
  return address.replace(/\/+$/, '')
}

/** Whether a connection to the URL says who answers: https, or this machine. */
export function isAuthenticated(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}

/** Whether an IP address, as a name resolves to, is neither of this machine nor of a private network. */
export function isPublicAddress(address: string): boolean {
  return !isPrivateHost(address.includes(':') ? `[${address.toLowerCase()}]` : address)
}

function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  if (host.startsWith('[')) return PRIVATE_IPV6.test(host)
  return LOOPBACK.test(host) || PRIVATE_IPV4.test(host) || !host.includes('.')
}

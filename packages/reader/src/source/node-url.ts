/** Which URLs a node may have. */

const NODE_URL_LENGTH_MAX = 255
const LOOPBACK = /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
// The URL parser has brought every spelling of an address into one form. IPv4: private, link-local, shared,
// unspecified, for documentation, tests and relays, multicast, reserved. Names: of this machine, or of one label.
const PRIVATE_IPV4_OR_NAME =
  /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2.|3[01])|192\.(?:168|0\.[02]|88\.99)|198\.(?:1[89]|51\.100)|203\.0\.113|100\.(?:6[4-9]|[7-9].|1[01].|12[0-7])|2(?:2[4-9]|[345].))\.[\d.]+$|^[^.[]*\.?$|\.localhost\.?$/
// All but the global addresses (2000::/3), and of these protocols (2001::/23, with Teredo), documentation and 6to4.
const PRIVATE_IPV6 = /^\[(?:[^23]|.{1,3}:|200(?:1:(?:1?.?.?|db8)|2):|3fff:.{0,3}:)/

/**
 * A node's base address without trailing slash.
 *
 * @returns undefined unless it is http or https without credentials, query and fragment, and at most
 *   255 characters; and, where `allowPrivate` is false, no loopback, private or single-label host.
 *   The transport checks the address that a public name resolves to.
 */
export function parseNodeUrl(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > NODE_URL_LENGTH_MAX || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const { hostname } = url
  const address = url.origin + url.pathname
  if (!/^https?:/.test(address) || url.href !== address) return undefined
  if (!allowPrivate && (PRIVATE_IPV4_OR_NAME.test(hostname) || PRIVATE_IPV6.test(hostname)))
    return undefined
  return address.replace(/\/+$/, '')
}

/** Whether a connection to the URL authenticates the node: https, or this machine. */
export function isAuthenticated(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}

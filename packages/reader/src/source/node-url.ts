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
 * Why a text cannot be the base address of a server; null: it can. The reason follows the name of the option: "contains
 * white space". It has nothing of the text.
 */
export function urlProblem(
  text: unknown,
  /** Of one document, such as the keys of an issuer. */
  { allowsQuery = false }: { readonly allowsQuery?: boolean } = {},
): string | null {
  if (typeof text !== 'string') return 'is not a text'
  if (text === '') return 'is empty'
  if (/\s/.test(text)) return 'contains white space'
  if (!/^https?:\/\//i.test(text)) return 'does not begin with https:// or http://'
  if (text.includes('#')) return 'has a fragment ("#")'
  if (!allowsQuery && text.includes('?')) return 'has a query ("?")'
  if (!allowsQuery && text.length > NODE_URL_LENGTH_MAX)
    return `has more than ${NODE_URL_LENGTH_MAX} characters`
  if (/^[^/]+\/\/[^/?]*@/.test(text)) return 'has a user or a password'
  return URL.canParse(text) ? null : 'is not a URL'
}

/** The text of an address for a message, without what may be secret: user, password, and query. */
export function shownUrl(text: unknown): string {
  const shown = String(text)
    .replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@')
    .replace(/\?.*/s, '?***')
  return JSON.stringify(shown.length > 100 ? `${shown.slice(0, 99)}…` : shown)
}

/**
 * A node's base address without trailing slash.
 *
 * @returns undefined unless it is http or https without white space, credentials, query and fragment, and at most
 *   255 characters; and, where `allowPrivate` is false, no loopback, private or single-label host.
 *   The transport checks the address that a public name resolves to.
 */
export function parseNodeUrl(text: string, allowPrivate: boolean): string | undefined {
  if (urlProblem(text) !== null) return undefined
  const url = new URL(text)
  const { hostname } = url
  const address = url.origin + url.pathname
  if (!allowPrivate && (PRIVATE_IPV4_OR_NAME.test(hostname) || PRIVATE_IPV6.test(hostname)))
    return undefined
  return address.replace(/\/+$/, '')
}

/** Whether a connection to the URL authenticates the node: https, or this machine. */
export function isAuthenticated(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}

/**
 * The name of a machine in an address: one machine has one voice, however its address is written and whatever its port. This
 * machine, with all its spellings, is a machine for each port. Names are not resolved here (`resolveMachines`).
 */
export function machineOf(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/\.$/, '')
  const isOwn =
    host === '0.0.0.0' || /^\[::(?:ffff:7f.*)?\]$/.test(host) || isAuthenticated(`http://${host}`)
  return isOwn ? `localhost:${port || (protocol === 'https:' ? '443' : '80')}` : host
}

/** Addresses of other processes: as the operator of this process configured them, and as the ledger has them. */
import { held, singleFlight } from '@quorumscan/base'
import { isAuthenticated, parseNodeUrl, shownUrl, urlProblem } from '@quorumscan/reader'

/** A node, as the operator of this process configured it. */
export type Peer = { readonly name: string; readonly url: string }

export type PeerEndpoint = Pick<Peer, 'url'> & { readonly isPublicOnly: boolean }

/**
 * The address without a trailing slash.
 *
 * @param options.allowsQuery - Such as for the keys of an issuer, which are one document. Default: false.
 * @throws {RangeError} With the reason and without a password, if the text is not a URL, has a user, a query or a
 *   fragment, or is an http URL beyond loopback, where other programs could answer.
 */
export function parseServiceUrl(
  text: string,
  options: { readonly allowsQuery?: boolean } = {},
): string {
  const problem =
    urlProblem(text, options) ??
    (isAuthenticated(text) ? null : 'is not an https URL, nor an http URL of this machine')
  if (problem !== null) throw new RangeError(`${shownUrl(text)} ${problem}`)
  return text.replace(/\/+$/, '')
}

/**
 * Reads `name=url,name=url`.
 *
 * @throws {RangeError} Which names the pair that is malformed.
 */
export function parsePeers(text: string): readonly Peer[] {
  const pairs = text.split(',').filter(Boolean)
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new RangeError(`${shownUrl(pair)} is not name=https://address`)
    return { name: pair.slice(0, at), url: parseServiceUrl(pair.slice(at + 1)) }
  })
}

/** @param allowPrivate - Whether a peer with a public address may have moved to a private one. */
export function createPeerAddresses(allowPrivate: boolean) {
  const urlByPeer = held(
    { owner: 'runtime', name: 'addresses of peers', kind: 'state', bound: 'one of each peer' },
    new Map<string, string>(),
  )
  let read: () => Promise<readonly Peer[]> = async () => []
  const load = singleFlight(async () => {
    for (const { name, url } of await read()) urlByPeer.set(name, url)
  })
  return {
    follow(newRead: typeof read): void {
      read = newRead
    },
    /** Does not wait: the Redis of this process may hang. */
    refresh(): void {
      load().catch(() => {}) // Read again in the next round.
    },
    endpointsOf: (peer: Peer): readonly PeerEndpoint[] =>
      endpointsOf(peer, urlByPeer.get(peer.name), allowPrivate),
  }
}

/**
 * The addresses of a peer, the most likely one first.
 *
 * @param moved - Its address on the ledger, if that is known.
 */
export function endpointsOf(
  { url }: Peer,
  moved: string | undefined,
  allowPrivate: boolean,
): readonly PeerEndpoint[] {
  const configured = { url, isPublicOnly: false } // Peers are configured by the operator.
  if (moved === undefined || moved === url) return [configured]
  // A peer of a private network moves within it. Another could make this process send requests into its own network.
  const mayBePrivate = allowPrivate || parseNodeUrl(url, false) === undefined
  const isUsable = parseNodeUrl(moved, mayBePrivate) !== undefined && isAuthenticated(moved)
  return isUsable ? [{ url: moved, isPublicOnly: !mayBePrivate }, configured] : [configured]
}

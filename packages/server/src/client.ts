/**
 * Who sends a request, and whose budget it is counted on (D-33): the address that it comes from, or a
 * peer that shows its token or a certificate. A wrong one is no error: the caller is the client that its address says.
 */
import { TLSSocket } from 'node:tls'
import { type Clock, sha256Hex, utf8 } from '@quorumscan/base'
import { isPeerToken, PEER_TOKEN_HEADER } from '@quorumscan/runtime'
import { clientKey, networkKey } from './client-key.ts'
import type { Origins } from './origins.ts'
import { type Budget, createBudget, unlimitedBudget } from './rate-limit.ts'

/** D-33: what a peer may ask for a second. */
const PEER_UNITS_PER_SECOND = 100_000
/** What all clients of a network have together, as with connections: so many times what one of them has. */
const NETWORK_FACTOR = 2

export type RateLimit = {
  /** For each client address. */
  readonly unitsPerSecond: number
  readonly peerTokens?: readonly string[]
}

export type Client = {
  /** Its address, or which peer it is. */
  readonly key: string
  /** The network that its address is of; of a peer as `key`. */
  readonly network: string
  /** Where it is, as its network says; undefined on a unix socket. */
  readonly address: string | undefined
  readonly isPeer: boolean
  /** As `Budget` has it, of all that counts for this client. @throws {ScanError} RATE_LIMITED. */
  admit(units: number): void
  charge(units: number): void
}

type Request = Parameters<Origins['addressOf']>[0]

/** Tells the client of each request. Tokens are compared by digest, so that time tells nothing of them. */
export function createClients(options: {
  readonly rateLimit: RateLimit | null
  readonly origins: Origins
  readonly clock: Clock
}): (request: Request) => Client {
  const { rateLimit, origins, clock } = options
  const { addressOf } = origins
  const strangerAt = (address: string | undefined, budget: Budget, networks: Budget): Client => {
    const [key, network] = [clientKey(address), networkKey(address)]
    const each = (how: keyof Budget) => (units: number) => {
      budget[how](key, units)
      if (network !== key) networks[how](network, units)
    }
    return { key, network, address, isPeer: false, admit: each('admit'), charge: each('charge') }
  }
  if (rateLimit === null)
    return (request) => strangerAt(addressOf(request), unlimitedBudget, unlimitedBudget)
  const { unitsPerSecond, peerTokens = [] } = rateLimit
  const budget = createBudget({ unitsPerSecond, clock })
  const networks = createBudget({ unitsPerSecond: NETWORK_FACTOR * unitsPerSecond, clock })
  const peerBudget = createBudget({
    unitsPerSecond: Math.max(unitsPerSecond, PEER_UNITS_PER_SECOND),
    clock,
  })
  const digest = (token: string) => sha256Hex(utf8(token))
  const peerByDigest = new Map(peerTokens.map((token, index) => [digest(token), `peer ${index}`]))
  const clientAt = (
    socket: Request['socket'],
    address: string | undefined,
    token: string | null,
  ): Client => {
    const peer =
      peerByDigest.size > 0 && token !== null && isPeerToken(token)
        ? peerByDigest.get(digest(token))
        : // What a proxy shows is nothing of whom it asks for.
          origins.isProxy(socket.remoteAddress)
          ? undefined
          : certifiedPeer(socket)
    if (peer === undefined) return strangerAt(address, budget, networks)
    return {
      key: peer,
      network: peer,
      address,
      isPeer: true,
      admit: (units) => peerBudget.admit(peer, units),
      charge: (units) => peerBudget.charge(peer, units),
    }
  }
  // The next request of a connection is nearly always of the same client.
  const lastBySocket = new WeakMap<
    Request['socket'],
    { readonly token: string | null; client: Client }
  >()
  return (request) => {
    const given = request.headers[PEER_TOKEN_HEADER]
    const token = typeof given === 'string' ? given : null
    const address = addressOf(request)
    const last = lastBySocket.get(request.socket)
    if (last !== undefined && last.token === token && last.client.address === address)
      return last.client
    const client = clientAt(request.socket, address, token)
    lastBySocket.set(request.socket, { token, client })
    return client
  }
}

/** Whom the certificate names, where the server knows an authority that vouches for it. One that was renewed names the same. */
function certifiedPeer(socket: Request['socket']): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const { subject = '', subjectAltName = '' } = certificate
  return `peer ${sha256Hex(utf8(`${subject}\n${subjectAltName}`)).slice(0, NAME_DIGITS)}`
}

/** Enough to tell a hundred peers apart. */
const NAME_DIGITS = 16

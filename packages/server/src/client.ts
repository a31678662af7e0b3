/**
 * The client that sends a request, and the token bucket that pays for it (D-33): an address, or a peer with a token or a
 * certificate. A wrong token is not an error: the client is then its address.
 */
import { TLSSocket } from 'node:tls'
import { type Clock, sha256Hex, utf8 } from '@quorumscan/base'
import { isPeerToken, PEER_TOKEN_HEADER } from '@quorumscan/runtime'
import ipaddr from 'ipaddr.js'
import type { ClientAddresses } from './client-address.ts'
import { createRateBudget, type RateBudget, unlimitedRateBudget } from './token-buckets.ts'

/** D-33: the rate of a peer. */
const PEER_UNITS_PER_SECOND = 100_000
/** The rate of all clients of a network, as a multiple of the rate of one. */
const NETWORK_FACTOR = 2
/** The owner of connections that carry requests of many clients. */
export const PROXIES = 'proxies'
/** Up to a millisecond of signing. An address that has 200 units per second can make 100 handshakes. */
const HANDSHAKE_UNITS = 2
/** Enough to distinguish a hundred peers. */
const PEER_NAME_DIGITS = 16
const IPV6_GROUP_BITS = 16

export type RateLimit = {
  /** The rate of each client address. */
  readonly unitsPerSecond: number
  /** Tokens of peers. Another list replaces them. */
  readonly peerTokens?: readonly string[]
}

export type Client = {
  /** Its address, or the name of the peer. */
  readonly key: string
  /** The network of its address; of a peer as `key`. */
  readonly network: string
  /** The address that the socket or the proxy reports; undefined on a unix socket. */
  readonly address: string | undefined
  /** Becomes false when its token is removed, also while a request is in progress. */
  readonly isPeer: boolean
  /** Charges all buckets that count for this client, as `RateBudget` does. @throws {ScanError} RATE_LIMITED. */
  spend(units: number): void
  charge(units: number): void
  settle(units: number): void
}

type Request = Parameters<ClientAddresses['addressOf']>[0]

export type Clients = ReturnType<typeof createClients>

/**
 * The limits of an address count for one client, which is an IPv4 address or the /64 of an IPv6 address, and for one
 * network: the /48 that a provider gives to one customer; an IPv4 address alone. `undefined`: a unix socket.
 */
export function keysOf(address: string | undefined) {
  if (address === undefined) return { client: 'local', network: 'local' }
  // An IPv4-mapped IPv6 address becomes the IPv4 address.
  const parsed = ipaddr.isValid(address) ? ipaddr.process(address) : address
  if (!(parsed instanceof ipaddr.IPv6))
    return { client: parsed.toString(), network: parsed.toString() }
  const prefixOf = (bits: number) => {
    const groups = parsed.parts.slice(0, bits / IPV6_GROUP_BITS)
    return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`
  }
  return { client: prefixOf(64), network: prefixOf(48) }
}

/** Tokens are compared by digest, so that timing reveals nothing about them. */
export function createClients(options: {
  /** Null: no client is limited, and there are no peers. */
  readonly rateLimit: RateLimit | null
  readonly clientAddresses: ClientAddresses
  readonly clock: Clock
}) {
  const { rateLimit, clientAddresses, clock } = options
  const budgetOf = (unitsPerSecond: number) =>
    rateLimit === null ? unlimitedRateBudget : createRateBudget({ unitsPerSecond, clock })
  const unitsPerSecond = rateLimit?.unitsPerSecond ?? 0
  const addresses = budgetOf(unitsPerSecond)
  const networks = budgetOf(NETWORK_FACTOR * unitsPerSecond)
  const peers = budgetOf(Math.max(unitsPerSecond, PEER_UNITS_PER_SECOND))
  let tokens: readonly string[] = []
  let digests: ReadonlySet<string> = new Set()
  const currentDigests = () => {
    const { peerTokens = tokens } = rateLimit ?? {}
    if (peerTokens !== tokens) digests = new Set(peerTokens.map((token) => sha256Hex(utf8(token))))
    tokens = peerTokens
    return digests
  }

  const anonymousAt = (address: string | undefined): Client => {
    const { client: key, network } = keysOf(address)
    const pay = (how: keyof RateBudget) => (units: number) => {
      addresses[how](key, units)
      if (network !== key) networks[how](network, units)
    }
    const rates = { spend: pay('spend'), charge: pay('charge'), settle: pay('settle') }
    return { key, network, address, isPeer: false, ...rates }
  }
  const peerAt = (address: string | undefined, digest: string, isPeer: () => boolean): Client => {
    const key = `peer ${digest.slice(0, PEER_NAME_DIGITS)}`
    return {
      key,
      network: key,
      address,
      get isPeer() {
        return isPeer()
      },
      spend: (units) => peers.spend(key, units),
      charge: (units) => peers.charge(key, units),
      settle: (units) => peers.settle(key, units),
    }
  }
  const clientAt = ({ socket }: Request, address: string | undefined, token: string | null) => {
    if (rateLimit === null) return anonymousAt(address)
    if (currentDigests().size > 0 && token !== null && isPeerToken(token)) {
      const digest = sha256Hex(utf8(token))
      const isPeer = () => currentDigests().has(digest)
      return isPeer() ? peerAt(address, digest, isPeer) : anonymousAt(address)
    }
    // The certificate of a proxy does not name the client that the proxy serves.
    if (clientAddresses.isProxy(socket.remoteAddress)) return anonymousAt(address)
    const digest = certifiedSubject(socket)
    return digest === undefined ? anonymousAt(address) : peerAt(address, digest, () => true)
  }
  // The next request of a connection is nearly always of the same client.
  type Last = {
    readonly token: string | null
    readonly digests: ReadonlySet<string>
    readonly client: Client
  }
  const lastBySocket = new WeakMap<Request['socket'], Last>()
  return {
    of(request: Request): Client {
      const given = request.headers[PEER_TOKEN_HEADER]
      const token = typeof given === 'string' ? given : null
      const address = clientAddresses.addressOf(request)
      const last = lastBySocket.get(request.socket)
      const isSame = last?.token === token && last.digests === currentDigests()
      if (last !== undefined && isSame && last.client.address === address) return last.client
      const client = clientAt(request, address, token)
      lastBySocket.set(request.socket, { token, digests, client })
      return client
    },
    /** Whether the address may begin a TLS handshake, for which its bucket pays. */
    admitHandshake(address: string | undefined): boolean {
      if (clientAddresses.isProxy(address)) return true
      try {
        anonymousAt(address).spend(HANDSHAKE_UNITS)
        return true
      } catch {
        return false // RATE_LIMITED, which cannot be reported before the handshake.
      }
    },
  }
}

/**
 * The digest of the subject of the certificate, if the server trusts its authority. A renewed certificate has the same
 * subject.
 */
function certifiedSubject(socket: Request['socket']): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const { subject = '', subjectAltName = '' } = certificate
  return sha256Hex(utf8(`${subject}\n${subjectAltName}`))
}

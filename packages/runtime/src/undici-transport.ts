/**
 * The reader's transport on Node.js: keep-alive connections by undici with limits on time and size, and separate
 * connections for lookups and for large answers (D-14). Redirects are answers like any other (D-34).
 */
import { lookup } from 'node:dns'
import { setMaxListeners } from 'node:events'
import type { LookupFunction } from 'node:net'
import type { ClientTls } from '@quorumscan/base'
import {
  BodyTooLargeError,
  createBodyPieces,
  PrivateAddressError,
  type Transport,
  type TransportReply,
  type TransportRequest,
} from '@quorumscan/reader'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Agent, buildConnector, type Dispatcher, Pool, fetch as undiciFetch } from 'undici'
import { PEER_TOKEN_HEADER } from './peer-tokens.ts'

/** Enough to have several batches under way at one node; more would only queue there. */
const CONNECTIONS_MAX = { lookup: 16, bulk: 4 } as const
/** Requests that wait for a connection, for each node and channel: beyond it the node counts as down. */
const QUEUED_MAX = 1024
/** A node that accepts no connection within this is down; far above a round trip around the earth. */
export const CONNECT_MS_MAX = 2000
/** Between two parts of an answer. The reader's own waits are shorter (D-38); this ends requests whose caller has left. */
export const SILENCE_MS_MAX = 30_000
/** Idle connections are kept less long than the server keeps them (30 s), so that none is used as it closes. */
const KEEP_ALIVE_MS = 20_000
/** Bytes read of an answer after the read was decided, to detect a node that dissents. */
const USELESS_BYTES_MAX = 64 * 1024
/** Nodes of a genesis (at most 100) and seeds, twice over for addresses that change. */
const POOLS_MAX = 512

export type UndiciTransport = Transport & AsyncDisposable

/** Thrown for an answer that breaks a bound. To the reader it is a failure like any other (D-35). */
class TransportError extends Error {
  override readonly name = 'TransportError'
}

/** The tokens that a process has with others, by their origin: read for each request, because they are renewed. */
export type PeerTokens = Pick<ReadonlyMap<string, string>, 'get'>

export type UndiciTransportOptions = {
  /** The token that this process has with the node at an origin (D-33); sent nowhere else. */
  readonly peerTokenByOrigin?: PeerTokens
  /** The certificate authorities of https. Default: those built into Node.js. */
  readonly trust?: ClientTls | null
  /** For each node and channel, where the default is too few. */
  readonly connectionsMax?: number
}

/** A node at its address. */
type Target = {
  readonly pool: Pool
  /** Before the path of every request, without a trailing slash. */
  readonly basePath: string
  readonly ownHeaders: () => Readonly<Record<string, string>>
}

/** Disposing closes all connections; requests under way are rejected. */
export function createUndiciTransport(options: UndiciTransportOptions = {}): UndiciTransport {
  const targets = new LRUCache<string, Target>({
    max: POOLS_MAX,
    dispose: ({ pool }, _, reason) => {
      if (reason === 'evict') void pool.close()
    },
  })

  const targetOf = ({ url, channel, isPublicOnly }: TransportRequest): Target => {
    const key = `${channel} ${isPublicOnly} ${url}`
    const known = targets.get(key)
    if (known !== undefined) return known
    const { origin, pathname } = new URL(url)
    const target = {
      pool: new Pool(origin, {
        connections: options.connectionsMax ?? CONNECTIONS_MAX[channel],
        pipelining: 1,
        connect: connectorOf(options.trust ?? null, isPublicOnly ? { lookup: lookupPublic } : {}),
        headersTimeout: SILENCE_MS_MAX,
        bodyTimeout: SILENCE_MS_MAX,
        keepAliveTimeout: KEEP_ALIVE_MS,
      }),
      basePath: pathname.replace(/\/$/, ''),
      ownHeaders() {
        const token = options.peerTokenByOrigin?.get(origin)
        return token === undefined ? {} : { [PEER_TOKEN_HEADER]: token }
      },
    }
    targets.set(key, target)
    return target
  }

  return {
    async request(input) {
      input.signal.throwIfAborted()
      // One signal may end the requests to all nodes; Node warns of a leak at the eleventh.
      setMaxListeners(0, input.signal)
      const target = targetOf(input)
      if (target.pool.stats.queued >= QUEUED_MAX) throw new TransportError('too many requests wait')
      return await exchange(target, input)
    },
    async [Symbol.asyncDispose]() {
      const open = [...targets.values()]
      targets.clear()
      await Promise.all(open.map(({ pool }) => pool.destroy()))
    },
  }
}

/** One request and its answer, by undici's leanest way: streams for each body would double what it costs. */
function exchange(target: Target, input: TransportRequest): Promise<TransportReply> {
  const { signal, bytesMax, bytesWanted = () => bytesMax } = input
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let status = 0
    let received: Headers = {}
    let answer = createBodyPieces(bytesMax)
    let receivedCount = 0
    const onAbort = () => {
      controller?.abort(signal.reason)
      fail(signal.reason)
    }
    const fail = (reason: unknown) => {
      signal.removeEventListener('abort', onAbort)
      reject(reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        // It waited for a connection meanwhile.
        if (signal.aborted) started.abort(signal.reason)
      },
      // Aborting ends the connection with it: what else comes is not read.
      onResponseStart(started, statusCode, headers) {
        status = statusCode
        received = headers
        // Our nodes declare the length of each answer. Without it, an answer could consist of chunks of one byte, endless
        // extensions, and any number of interim answers: bytes that nothing here would count.
        const length = Number(headerOf(headers, 'content-length') ?? Number.NaN)
        if (!(length <= bytesMax))
          started.abort(new BodyTooLargeError(`it declares no length of at most ${bytesMax} bytes`))
        else answer = createBodyPieces(bytesMax, length)
      },
      onResponseData(started, chunk) {
        receivedCount += chunk.byteLength
        input.onProgress?.(chunk.byteLength)
        if (receivedCount > bytesWanted() + USELESS_BYTES_MAX)
          return started.abort(new TransportError('too long for a read that is decided'))
        try {
          answer.add(chunk)
        } catch (error) {
          started.abort(error as Error) // A RangeError.
        }
      },
      onResponseEnd() {
        signal.removeEventListener('abort', onAbort)
        resolve({ status, header: (name) => headerOf(received, name), body: answer.bytes() })
      },
      onResponseError: (_controller, error) => fail(error),
    }
    const { method, body } = input
    const path = target.basePath + input.path
    const headers = { ...input.headers, ...target.ownHeaders() }
    target.pool.dispatch({ method, path, headers, body }, handler)
  })
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** As the global `fetch`, but it trusts these certificates. */
export function createFetch(trust: ClientTls | null): typeof fetch {
  const dispatcher = new Agent({ connect: connectorOf(trust) })
  // Types of Node and of undici describe the same thing twice.
  return ((input: string, init: object) =>
    undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch
}

/** Opens connections that trust these certificates, as they are by then. */
export function connectorOf(
  trust: ClientTls | null,
  options: { readonly lookup?: LookupFunction } = {},
): buildConnector.connector {
  const connectorBy = (tls: object) =>
    buildConnector({ timeout: CONNECT_MS_MAX, ...options, ...tls })
  if (trust === null) return connectorBy({})
  let secureContext = trust()
  let connect = connectorBy({ secureContext })
  return (to, callback) => {
    const now = trust()
    // The same connector as long as possible: it resumes sessions.
    if (now !== secureContext) connect = connectorBy({ secureContext: now })
    secureContext = now
    connect(to, callback)
  }
}

/** IANA assigns global addresses from this range. ipaddr.js also reports unnamed ranges, as `::10.0.0.1`, as global. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address belongs to no range that is reserved for private networks, this machine, documentation or
 * protocols. Addresses that embed an IPv4 address (mapped, 6to4, Teredo, NAT64) are refused: their route may lead
 * into a private network. `parseNodeUrl` judges the addresses in URLs alike.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_IPV6)) return false
  return parsed.range() === 'unicast'
}

/**
 * Resolves a name, but refuses one of which any address is private: a node must not direct our requests to services of
 * our own network. Called for each connection, so that a later answer of the DNS does not get around it.
 */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, options, (error, address, family) => {
    const found: readonly { readonly address: string }[] =
      typeof address === 'string' ? [{ address }] : (address ?? [])
    const isPublic = found.every((one) => isPublicAddress(one.address))
    const refusal = isPublic ? null : new PrivateAddressError(`${hostname} is on a private address`)
    callback(error ?? refusal, address, family)
  })
}

function headerOf(headers: Headers, name: string): ReturnType<TransportReply['header']> {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return Array.isArray(value) ? value.join(', ') : (value ?? null)
}

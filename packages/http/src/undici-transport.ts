/**
 * The reader's transport on Node: keep-alive connections by undici, bounded in every direction, and
 * apart for lookups and for large answers (D-14). Redirects are answers like any other (D-34).
 */
import { lookup } from 'node:dns'
import { setMaxListeners } from 'node:events'
import type { LookupFunction } from 'node:net'
import {
  isPublicAddress,
  type Transport,
  type TransportReply,
  type TransportRequest,
} from '@quorumscan/consensus'
import { Pool } from 'undici'
import { PEER_TOKEN_HEADER } from './peer-tokens.ts'

/** Enough to have several batches under way at one node; more would only queue there. */
const CONNECTIONS_MAX = { lookup: 16, bulk: 4 } as const
/** Waiting for a connection, for each node and channel: beyond it the node is as good as dead. */
const QUEUED_MAX = 1024
/** A node that accepts no connection within this is down; far above a round trip around the earth. */
const CONNECT_MS_MAX = 2000
/** The reader's own waits are shorter (D-38); this ends what nobody waits for any more. */
const REPLY_MS_MAX = 30_000
/** Idle connections are kept less long than the server keeps them (30 s), so that none is used as it closes. */
const KEEP_ALIVE_MS = 20_000
/** Nodes of a genesis (at most 100) and seeds, twice over for addresses that change. */
const POOLS_MAX = 512

export type UndiciTransport = Transport & AsyncDisposable

/** Thrown for an answer that breaks a bound. To the reader it is a failure like any other (D-35). */
class TransportError extends Error {
  override readonly name = 'TransportError'
}

export type UndiciTransportOptions = {
  /** The token that this process has with the node at an origin (D-33); sent nowhere else. */
  readonly peerTokenByOrigin?: ReadonlyMap<string, string>
}

/** Disposing closes all connections; requests under way are rejected. */
export function createUndiciTransport(options: UndiciTransportOptions = {}): UndiciTransport {
  // In order of last use.
  const pools = new Map<string, Pool>()

  const poolOf = (origin: string, kind: PoolKind): Pool => {
    const key = `${kind.channel} ${kind.isPublicOnly} ${origin}`
    const pool = pools.get(key) ?? createPool(origin, kind)
    pools.delete(key)
    if (pools.size >= POOLS_MAX) {
      const [oldest] = pools
      if (oldest !== undefined) {
        pools.delete(oldest[0])
        void oldest[1].close()
      }
    }
    pools.set(key, pool)
    return pool
  }

  return {
    async request(input) {
      input.signal.throwIfAborted()
      // One signal ends a batch to all nodes; Node warns of a leak at the eleventh.
      setMaxListeners(0, input.signal)
      const base = new URL(input.url)
      const pool = poolOf(base.origin, input)
      if (pool.stats.queued >= QUEUED_MAX) throw new TransportError('too many requests wait')
      const peerToken = options.peerTokenByOrigin?.get(base.origin)
      const path = base.pathname.replace(/\/$/, '') + input.path
      const { statusCode, headers, body } = await pool.request({
        method: input.method,
        path,
        headers:
          peerToken === undefined
            ? input.headers
            : { ...input.headers, [PEER_TOKEN_HEADER]: peerToken },
        body: input.body,
        signal: input.signal,
      })
      const bytes = await readAtMost(body, input.bytesMax)
      return { status: statusCode, header: (name) => headerOf(headers, name), body: bytes }
    },
    async [Symbol.asyncDispose]() {
      const open = [...pools.values()]
      pools.clear()
      await Promise.all(open.map((pool) => pool.destroy()))
    },
  }
}

type PoolKind = Pick<TransportRequest, 'channel' | 'isPublicOnly'>

function createPool(origin: string, kind: PoolKind): Pool {
  return new Pool(origin, {
    connections: CONNECTIONS_MAX[kind.channel],
    pipelining: 1,
    connect: {
      timeout: CONNECT_MS_MAX,
      ...(kind.isPublicOnly ? { lookup: lookupPublic } : {}),
    },
    headersTimeout: REPLY_MS_MAX,
    bodyTimeout: REPLY_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
}

/**
 * Resolves as ever, but refuses a name of which any address is private: a node must not be able to send
 * our requests to services of our own network. Asked for every connection, so that no later answer of the
 * DNS gets around it.
 */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, options, (error, address, family) => {
    const found: readonly { readonly address: string }[] =
      typeof address === 'string' ? [{ address }] : (address ?? [])
    const isPublic = found.every((one) => isPublicAddress(one.address))
    const refusal = isPublic ? null : new TransportError(`${hostname} is on a private address`)
    callback(error ?? refusal, address, family)
  })
}

async function readAtMost(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop by an exception destroys the body and with it the connection.
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > bytesMax) throw new TransportError(`the answer exceeds ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks, size))
}

function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): ReturnType<TransportReply['header']> {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return Array.isArray(value) ? value.join(', ') : (value ?? null)
}

/**
 * A byte-level proxy on one edge of the cluster, for HTTP and Redis. It is placed before an HTTP server, on the way to a
 * server, or before the process's own Redis. It does not interpret the bytes. Without a fault it passes all of them.
 */
import { once } from 'node:events'
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { type Clock, held, type Random } from '@quorumscan/base'
import { withRedis } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import type { LinkFault } from './fault-spec.ts'

/** Bytes that wait in a slow connection. Above it the proxy pauses the sender, as a full pipe does. */
const QUEUED_BYTES_MAX = 4 * 2 ** 20

/** `dropRate`: the probability that a connection loses the next bytes and all that follow. */
const HEALTHY = { latencyMs: 0, jitterMs: 0, dropRate: 0, isReset: false }
type Policy = Readonly<typeof HEALTHY>

export type Edge = ReturnType<typeof createEdge>

type Connection = { readonly client: Socket; readonly server: Socket; isDropping: boolean }

/** An edge without faults. It opens no socket itself: `join` passes it pairs of them. */
export function createEdge(deps: { readonly clock: Clock; readonly random: Random }) {
  const connections = held(
    {
      owner: 'cluster',
      name: 'connections of fault edges',
      kind: 'work',
      bound: 'those of the processes',
    },
    new Set<Connection>(),
  )
  let policy = policyOf([])

  const destroy = (connection: Connection) => {
    connections.delete(connection)
    connection.client.destroy()
    connection.server.destroy()
  }

  /** Whether these bytes pass. */
  const admits = (connection: Connection): boolean => {
    if (policy.isReset) {
      reset(connection.client)
      destroy(connection)
      return false
    }
    if (!connection.isDropping && policy.dropRate > 0)
      connection.isDropping = deps.random.fraction() < policy.dropRate
    return !connection.isDropping
  }

  const pump = (connection: Connection, way: 'request' | 'answer') => {
    const { client, server } = connection
    const [from, to] = way === 'request' ? [client, server] : [server, client]
    const ended = new AbortController()
    let queuedBytes = 0
    let tail: Promise<void> = Promise.resolve()
    let isQueueEmpty = true
    let isFull = false
    const adjust = () => {
      if (isFull || queuedBytes > QUEUED_BYTES_MAX) from.pause()
      else from.resume()
    }
    const write = (chunk: Buffer) => {
      isFull = !to.write(chunk)
      if (isFull) adjust()
    }
    to.on('drain', () => {
      isFull = false
      adjust()
    })
    const enqueue = (dueMs: number, deliver: () => void, bytes: number) => {
      queuedBytes += bytes
      isQueueEmpty = false
      adjust()
      const mine = tail.then(async () => {
        const waitMs = dueMs - deps.clock.monotonicMs()
        if (waitMs > 0) await deps.clock.delay(waitMs, ended.signal)
        deliver()
        queuedBytes -= bytes
        adjust()
        if (tail === mine) isQueueEmpty = true
      })
      tail = mine
      mine.catch(() => {}) // The connection closed.
    }
    from.on('data', (chunk: Buffer) => {
      if (!admits(connection)) return
      // Only answers are delayed, so that the delay counts once.
      const latencyMs = way === 'answer' ? latencyOf(policy, deps.random) : 0
      if (latencyMs === 0 && isQueueEmpty) write(chunk)
      else enqueue(deps.clock.monotonicMs() + latencyMs, () => write(chunk), chunk.byteLength)
    })
    from.on('end', () => {
      if (!connection.isDropping) enqueue(0, () => to.end(), 0)
    })
    from.on('error', () => {}) // 'close' follows.
    from.on('close', () => {
      if (connection.isDropping) destroy(connection)
      // Bytes sent before the end still arrive.
      else enqueue(0, () => to.destroySoon(), 0)
    })
    to.on('close', () => {
      ended.abort()
      connections.delete(connection)
    })
  }

  return {
    /** Replaces the faults in force. Connections that lost bytes close once no more bytes are lost. */
    set(faults: readonly LinkFault[]): void {
      policy = policyOf(faults)
      if (policy.dropRate === 0)
        for (const connection of connections) if (connection.isDropping) destroy(connection)
    },
    isFaulty: () => policy !== HEALTHY,
    /** Passes bytes between a client and its server until one of them closes. */
    join(client: Socket, server: Socket): void {
      const connection = { client, server, isDropping: false }
      connections.add(connection)
      pump(connection, 'request')
      pump(connection, 'answer')
    },
    /** Closes every connection. New ones may be passed again. */
    close(): void {
      for (const connection of connections) destroy(connection)
    },
  }
}

/** A unix socket has no reset. Closing it with unread bytes looks like one to its client. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

function policyOf(faults: readonly LinkFault[]): Policy {
  if (faults.length === 0) return HEALTHY
  const slow = faults.filter((fault) => fault.kind === 'slow')
  const drops = faults.filter((fault) => fault.kind === 'drop')
  return {
    latencyMs: slow.reduce((sum, fault) => sum + fault.latencyMs, 0),
    jitterMs: slow.reduce((sum, fault) => sum + fault.jitterMs, 0),
    dropRate: Math.max(0, ...drops.map((fault) => fault.rate)),
    isReset: faults.some((fault) => fault.kind === 'reset'),
  }
}

/** Uniform within the jitter on both sides. */
function latencyOf(policy: Policy, random: Random): number {
  if (policy.latencyMs === 0 && policy.jitterMs === 0) return 0
  return Math.max(0, policy.latencyMs + (random.fraction() * 2 - 1) * policy.jitterMs)
}

/** A connection or server behind an edge. */
export type Link = {
  set(faults: readonly LinkFault[]): void | Promise<void>
  close(): void
}

/**
 * Places an edge between an HTTP server and its clients. Without a fault in force the server accepts its connections directly. They
 * are closed when a fault begins.
 *
 * @param innerPath - A unix socket on which the server accepts the connections that pass the edge.
 */
export async function guardHttpServer(
  server: HttpServer,
  { edge, innerPath }: { readonly edge: Edge; readonly innerPath: string },
): Promise<Link> {
  const accepting = server.listeners('connection')
  server.removeAllListeners('connection')
  const accept = (socket: Socket) => {
    for (const listener of accepting) Reflect.apply(listener, server, [socket])
  }
  const direct = held(
    {
      owner: 'cluster',
      name: 'connections past fault edges',
      kind: 'work',
      bound: 'those of the processes',
    },
    new Set<Socket>(),
  )
  server.on('connection', (socket: Socket) => {
    if (edge.isFaulty()) {
      edge.join(socket, connectTo({ path: innerPath }))
      return
    }
    direct.add(socket)
    socket.once('close', () => direct.delete(socket))
    accept(socket)
  })
  rmSync(innerPath, { force: true })
  const inner = createServer({ allowHalfOpen: true }, accept)
  await once(inner.listen({ path: innerPath }), 'listening')
  inner.unref()
  return {
    set(faults) {
      edge.set(faults)
      if (edge.isFaulty()) for (const socket of direct) socket.destroy()
    },
    close() {
      inner.close()
      edge.close()
    },
  }
}

/**
 * Passes connections from one address through the edge to another. An address is the path of a unix socket or `host:port`;
 * port 0 takes a free one. Returns the address that it got.
 */
export async function link(edge: Edge, addresses: { readonly at: string; readonly to: string }) {
  const [at, to] = [endpointOf(addresses.at), endpointOf(addresses.to)]
  if ('path' in at) rmSync(at.path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => edge.join(socket, connectTo(to)))
  await once(server.listen(at), 'listening')
  server.unref()
  // On TCP the address of a server is not a text.
  const port = () => (server.address() as AddressInfo).port
  const address = 'path' in at ? at.path : `${at.host}:${port()}`
  return { address, close: () => server.close() }
}

type Endpoint = { path: string } | { host: string; port: number }

function endpointOf(address: string): Endpoint {
  if (address.startsWith('/')) return { path: address }
  const [host = '', port] = address.split(':')
  return { host, port: Number(port) }
}

/**
 * Places an edge before a Redis only while a fault is in force. Clients connect to a symbolic link, which otherwise leads to Redis
 * itself, so that a healthy node has no overhead.
 */
export async function guardRedis(
  edge: Edge,
  paths: { readonly redis: string; readonly clients: string; readonly link: string },
): Promise<Link> {
  const linked = await link(edge, { at: paths.link, to: paths.redis })
  const wanted = () => (edge.isFaulty() ? paths.link : paths.redis)
  point(paths.clients, wanted())
  return {
    async set(faults) {
      edge.set(faults)
      if (readlinkSync(paths.clients) === wanted()) return
      point(paths.clients, wanted())
      if (edge.isFaulty()) await endClients(paths.redis)
      else edge.close()
    },
    close() {
      linked.close()
      edge.close()
    },
  }
}

/** Replaces a symbolic link atomically. */
function point(link: string, target: string): void {
  const next = `${link}.next`
  rmSync(next, { force: true })
  symlinkSync(target, next)
  renameSync(next, link)
}

/** Disconnects all clients of a Redis, so that they connect again. A Redis that hangs needs no disconnect. */
async function endClients(path: string): Promise<void> {
  const kill = (redis: Redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await withRedis({ path }, 'probe', kill).catch(() => {})
}

function connectTo(to: Endpoint): Socket {
  return createConnection({ ...to, allowHalfOpen: true, noDelay: true })
}

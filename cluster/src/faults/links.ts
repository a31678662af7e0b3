/** Where edges stand: before an HTTP server, on the way to a server, and before the process's own Redis. */
import { once } from 'node:events'
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import type { Edge } from './edge.ts'
import type { LinkFault } from './fault-spec.ts'

/** A working Redis answers within milliseconds. A hung one needs no disconnect. */
const KICK_TIMEOUT_MS = 500

/** A connection or server behind an edge. */
export type Link = {
  set(faults: readonly LinkFault[]): void | Promise<void>
  close(): void
}

/**
 * Stands between an HTTP server and its clients. Without a fault in force the server accepts its connections directly. They
 * are closed when a fault begins.
 *
 * @param innerPath - A unix socket on which the server accepts the connections that pass the edge.
 */
export async function guardHttpServer(
  server: HttpServer,
  options: { readonly edge: Edge; readonly innerPath: string },
): Promise<Link> {
  const { edge, innerPath } = options
  const accepting = server.listeners('connection')
  server.removeAllListeners('connection')
  const accept = (socket: Socket) => {
    for (const listener of accepting) Reflect.apply(listener, server, [socket])
  }
  const direct = new Set<Socket>()
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
      edge.cut()
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
  // On TCP the address of a server is no text.
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
 * Stands before a Redis only while a fault is in force. Clients connect to a symbolic link, which otherwise leads to Redis
 * itself, so that a healthy node has no overhead.
 */
export async function guardRedis(
  edge: Edge,
  paths: { readonly redis: string; readonly clients: string; readonly link: string },
): Promise<Link> {
  const linked = await link(edge, { at: paths.link, to: paths.redis })
  point(paths.clients, paths.redis)
  return {
    async set(faults) {
      edge.set(faults)
      const wanted = edge.isFaulty() ? paths.link : paths.redis
      if (readlinkSync(paths.clients) === wanted) return
      point(paths.clients, wanted)
      if (edge.isFaulty()) await endClients(paths.redis)
      else edge.cut()
    },
    close() {
      linked.close()
      edge.cut()
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

/** Disconnects all clients of a Redis, so that they connect again. */
function endClients(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection({ path, timeout: KICK_TIMEOUT_MS })
    const finish = () => {
      socket.destroy()
      resolve()
    }
    for (const event of ['timeout', 'error', 'data']) socket.on(event, finish)
    socket.on('connect', () => socket.write('CLIENT KILL TYPE normal SKIPME yes\r\n'))
  })
}

function connectTo(to: Endpoint): Socket {
  return createConnection({ ...to, allowHalfOpen: true, noDelay: true })
}

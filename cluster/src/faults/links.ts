/** Where the byte-level proxy stands: before an HTTP server, on the way to a server, before the own Redis. */
import { once } from 'node:events'
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from 'node:net'
import type { Edge } from './edge.ts'
import type { LinkFault } from './process-faults.ts'

/** A Redis that works answers within milliseconds; one that hangs needs no kick. */
const KICK_TIMEOUT_MS = 500

export type Link = {
  set(faults: readonly LinkFault[]): void | Promise<void>
  close(): void
}

/**
 * Stands between an HTTP server and its clients. While no fault is in force the server has its
 * connections as if this were not there; they end when a fault begins.
 *
 * @param innerPath - A unix socket of its own, on which the server meets the connections that pass the edge.
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

/** A unix socket whose connections go through the edge to another one. */
export async function linkUnixSocket(edge: Edge, from: string, to: string): Promise<Server> {
  rmSync(from, { force: true })
  return await link(edge, { path: from }, { path: to })
}

/** A loopback URL whose connections go through the edge to another one. */
export async function linkUrl(edge: Edge, to: string): Promise<{ url: string; server: Server }> {
  const { address, server } = await linkTcp(edge, { at: '127.0.0.1:0', to: new URL(to).host })
  return { url: `http://${address}`, server }
}

/** A `host:port` whose connections go through the edge to another one; port 0 takes a free one. */
export async function linkTcp(
  edge: Edge,
  { at, to }: { readonly at: string; readonly to: string },
): Promise<{ address: string; server: Server }> {
  const { host, port } = endpointOf(at)
  const server = await link(edge, { host, port }, endpointOf(to))
  // Listening on TCP, so the address is no text.
  const address = `${host}:${(server.address() as AddressInfo).port}`
  return { address, server }
}

async function link(edge: Edge, at: Endpoint, to: Endpoint): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => edge.join(socket, connectTo(to)))
  await once(server.listen(at), 'listening')
  return server.unref()
}

type Endpoint = { path: string } | { host: string; port: number }

function endpointOf(address: string): { host: string; port: number } {
  const [host = '', port] = address.split(':')
  return { host, port: Number(port) }
}

/**
 * Stands before a Redis only while a fault is in force: clients connect to a symbolic link, which leads to
 * Redis itself at other times, so that a healthy node pays nothing.
 */
export async function guardRedis(
  edge: Edge,
  paths: { readonly redis: string; readonly clients: string; readonly link: string },
): Promise<Link> {
  const server = await linkUnixSocket(edge, paths.link, paths.redis)
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
      server.close()
      edge.cut()
    },
  }
}

/** Replaces the link at once: there is no moment at which nothing is there. */
function point(link: string, target: string): void {
  const next = `${link}.next`
  rmSync(next, { force: true })
  symlinkSync(target, next)
  renameSync(next, link)
}

/** Makes all clients of a Redis connect anew. */
function endClients(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection({ path, timeout: KICK_TIMEOUT_MS })
    const finish = () => {
      socket.destroy()
      resolve()
    }
    socket.on('timeout', finish)
    socket.on('error', finish)
    socket.on('connect', () => socket.write('CLIENT KILL TYPE normal SKIPME yes\r\n'))
    socket.on('data', finish)
  })
}

function connectTo(to: Endpoint): Socket {
  return createConnection({ ...to, allowHalfOpen: true, noDelay: true })
}

/** Bounds sockets, in all and by client, and ends them when the server closes. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientKey } from './client-key.ts'
import type { HttpLimits } from './limits.ts'

export function boundConnections(
  server: Server,
  limits: Pick<HttpLimits, 'connectionsMax' | 'connectionsPerClientMax'>,
): void {
  server.maxConnections = limits.connectionsMax
  const countByClient = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const client = clientKey(socket.remoteAddress)
    const count = (countByClient.get(client) ?? 0) + 1
    countByClient.set(client, count)
    socket.once('close', () => {
      const left = (countByClient.get(client) ?? 1) - 1
      if (left === 0) countByClient.delete(client)
      else countByClient.set(client, left)
    })
    if (count > limits.connectionsPerClientMax) socket.destroy()
  })
}

/**
 * Returns the way to end connections that have sent nothing, which clients open ahead of need: a closing
 * server of Node takes their first request for under way, and waits for it.
 */
export function trackUnused(server: Server): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

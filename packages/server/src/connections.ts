/** Connections that a closing server need not wait for. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Returns the way to end connections that have sent nothing, which clients open ahead of need: a closing
 * server of Node takes their first request for under way, and waits for it.
 */
export function trackUnused(server: Server): () => void {
  const open = new Set<Socket>()
  let isEnding = false
  const track = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  server.on('connection', track)
  // With TLS the former has sent its part of a handshake.
  server.on('secureConnection', (socket: Socket) => (isEnding ? socket.destroy() : track(socket)))
  return () => {
    isEnding = true
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

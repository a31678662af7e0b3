/**
 * Closing a connection whose client may still be sending, so that it can read the last answer: a socket that is
 * closed with bytes unread resets the connection, and the client gets an error of its own system instead.
 */
import type { Duplex } from 'node:stream'

/** Read and thrown away: the largest body that anybody sends by mistake, in less than 20 ms. */
const DRAINED_BYTES_MAX = 32 * 1024 * 1024
const discarding = new WeakSet<Duplex>()

/**
 * Throws away whatever else comes. Nothing of it is a request any more: HTTP's parser, which would take its
 * time for each chunk, does not see it.
 */
export function discardInput(socket: Duplex): void {
  if (discarding.has(socket)) return
  discarding.add(socket)
  socket.removeAllListeners('data')
  let left = DRAINED_BYTES_MAX
  socket.on('data', (bytes: Buffer) => {
    left -= bytes.byteLength
    if (left < 0) socket.destroy()
  })
  // The parser may have stopped the system's reading, which the socket does not know of: it takes itself to be at it.
  socket._read(0)
  socket.resume()
}

/**
 * Sends these last bytes, says that no more follow, and waits for the other side to do the same. The server
 * ends what takes too long.
 */
export function closeGently(socket: Duplex, lastBytes = ''): void {
  if (socket.destroyed) return
  socket.removeAllListeners('end')
  // Each side has said its last.
  let isOver = false
  const over = () => {
    if (isOver) socket.destroy()
    isOver = true
  }
  socket.once('end', over)
  socket.end(lastBytes, over)
  discardInput(socket)
}

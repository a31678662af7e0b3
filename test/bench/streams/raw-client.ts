/** Clients that only count bytes, so that measurements show the cost of the server. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { assert } from '@quorumscan/base'

/** A text frame of a client (RFC 6455), masked with zeros. */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text)
  assert(payload.byteLength >= 126 && payload.byteLength < 65_536, 'the request has a usual size')
  const header = Buffer.from([0x81, 0x80 | 126, payload.byteLength >> 8, payload.byteLength & 255])
  return Buffer.concat([header, Buffer.alloc(4), payload])
}

/** Header size of a server's frame. */
function headerBytes(payloadBytes: number): number {
  if (payloadBytes < 126) return 2
  return payloadBytes < 65_536 ? 4 : 10
}

/** Opens a WebSocket, and sends its request. The caller reads the answers. */
export async function openStream(
  server: { readonly url: string; readonly token: string },
  request: object,
): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET /v2/updates HTTP/1.1\r\nhost: ${hostname}\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n` +
      `authorization: Bearer ${server.token}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  assert(head.toString('latin1').startsWith('HTTP/1.1 101'), head.toString('latin1'))
  socket.write(frameOf(JSON.stringify(request)))
  return socket
}

/** Resolves when the socket has received this many bytes. */
export function received(socket: Socket, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let count = 0
    socket.on('data', (data) => {
      count += data.byteLength
      if (count >= bytes) resolve()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`closed after ${count} of ${bytes} bytes`)))
  })
}

/** Payloads of the text frames of a stream, until its close frame. */
export async function* payloadsOf(socket: Socket): AsyncGenerator<readonly Buffer[]> {
  let rest = Buffer.alloc(0)
  for await (const data of socket) {
    rest = Buffer.concat([rest, data as Buffer])
    const payloads: Buffer[] = []
    for (;;) {
      const second = rest[1] ?? 0
      if (rest.byteLength < (second === 126 ? 4 : second === 127 ? 10 : 2)) break
      const size =
        second === 126
          ? rest.readUInt16BE(2)
          : second === 127
            ? Number(rest.readBigUInt64BE(2))
            : second
      const start = headerBytes(size)
      if (rest.byteLength < start + size) break
      const opcode = (rest[0] ?? 0) & 15
      if (opcode === 8) {
        yield payloads
        socket.destroy()
        return
      }
      if (opcode === 1) payloads.push(Buffer.from(rest.subarray(start, start + size)))
      rest = rest.subarray(start + size)
    }
    yield payloads
  }
}

export function wireBytesOf(payloadBytes: readonly number[]): number {
  return payloadBytes.reduce((sum, bytes) => sum + bytes + headerBytes(bytes), 0)
}

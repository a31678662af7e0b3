/** Raw connections, for clients that need not follow HTTP. */
import { connect, type Socket } from 'node:net'

export type Reply = {
  /** Null if no answer could be read. */
  readonly status: number | null
  readonly text: string
  /** The system's error code of the connection; null if the server closed it. */
  readonly error: string | null
}

/** Connects to the process at this address, optionally from a local address. */
export function open(url: string, localAddress?: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === undefined ? {} : { localAddress }),
  })
  return socket.on('error', () => {}) // 'close' follows.
}

/** Resolves with the first of these events or 'close': for 'data' with its text, else with its name. Never rejects. */
export function first(socket: Socket, ...events: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    for (const event of [...events, 'close'])
      socket.once(event, (data: unknown) => resolve(event === 'data' ? String(data) : event))
    if (socket.destroyed) resolve('close')
  })
}

/** Sends these bytes regardless of answers, and reads until the server closes the connection. */
export function exchange(url: string, ...parts: readonly (string | Uint8Array)[]): Promise<Reply> {
  return new Promise((resolve) => {
    const socket = open(url)
    let text = ''
    let error: string | null = null
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', (reason: NodeJS.ErrnoException) => {
      error = reason.code ?? reason.message
    })
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 ([0-9]{3}) /.exec(text)?.[1]
      resolve({ status: status === undefined ? null : Number(status), text, error })
    })
    for (const part of parts) socket.write(part)
  })
}

export const post = (path: string, ...headers: readonly string[]) =>
  ['POST ', path, ' HTTP/1.1\r\nhost: a\r\nconnection: close\r\n']
    .concat(headers.map((header) => `${header}\r\n`))
    .join('')
    .concat('\r\n')

/** Encodes the body in chunks of `chunkBytes` bytes. Drops an incomplete last chunk. */
export function chunked(body: string, chunkBytes: number): string {
  const size = chunkBytes.toString(16)
  const chunks: string[] = []
  for (let start = 0; start + chunkBytes <= body.length; start += chunkBytes)
    chunks.push(size, '\r\n', body.slice(start, start + chunkBytes), '\r\n')
  return `${chunks.join('')}0\r\n\r\n`
}

/** The request that opens a WebSocket. */
export const upgrade = (path: string, ...headers: readonly string[]) =>
  [`GET ${path} HTTP/1.1`, 'host: a', 'upgrade: websocket', 'connection: upgrade']
    .concat('sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', headers)
    .map((line) => `${line}\r\n`)
    .join('')
    .concat('\r\n')

/** A WebSocket frame of a client, of less than 64 kB, masked with zeros. */
export function frame(opcode: number, payload: string, isFinal = true): Buffer {
  const length = Buffer.byteLength(payload)
  const first = (isFinal ? 0x80 : 0) | opcode
  const header =
    length < 126
      ? Buffer.of(first, 0x80 | length)
      : Buffer.of(first, 0x80 | 126, length >> 8, length & 0xff)
  return Buffer.concat([header, Buffer.alloc(4), Buffer.from(payload)])
}

export const TEXT_FRAME = 0x1

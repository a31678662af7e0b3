/** A server with one of the faults that a peer may have, at a point of the exchange. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** What the peer does with a connection, after the first bytes of a request have come. Absent: it accepts none. */
type Behaviour = (socket: Socket, resources: Set<NodeJS.Timeout>) => void

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n'
const DRIP_MS = 1000

/** Writes again and again until the socket ends. */
function repeated(socket: Socket, timers: Set<NodeJS.Timeout>, ms: number, text: string): void {
  const timer = setInterval(() => socket.write(text), ms)
  timers.add(timer)
  socket.once('close', () => clearInterval(timer))
}

export const PEER_FAULTS = {
  'hangs before it accepts the connection': null,
  'hangs after it accepted the connection': () => {},
  'hangs after the head': (socket) => socket.write(HEAD),
  'hangs in the body': (socket) => socket.write(`${HEAD}{"a":`),
  'sends one byte a second': (socket, timers) => {
    socket.write(HEAD)
    repeated(socket, timers, DRIP_MS, ' ')
  },
  'sends interim answers without end': (socket, timers) => {
    repeated(socket, timers, 1, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
  },
  'closes without an answer': (socket) => socket.destroy(),
} as const satisfies Readonly<Record<string, Behaviour | null>>

export type PeerFault = keyof typeof PEER_FAULTS

/** Blocks its event loop once it listens, so that it accepts nothing. */
const ACCEPTS_NOTHING =
  "const s=require('net').createServer();s.listen({port:0,host:'127.0.0.1',backlog:1},()=>{" +
  "require('fs').writeSync(1,s.address().port+'\\n');Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)})"
/** More than the backlog has room for: connections beyond it hang. */
const FILLING = 4

export type FaultyPeer = AsyncDisposable & {
  readonly url: string
  /** Connections that are open. Zero where it accepts none. */
  readonly openCount: () => number
}

/** Listens on loopback, or at the path of a Unix socket. */
export async function startFaultyPeer(
  fault: PeerFault,
  { socketPath }: { readonly socketPath?: string } = {},
): Promise<FaultyPeer> {
  const behave: Behaviour | null = PEER_FAULTS[fault]
  if (behave === null) return await startDeafPeer()
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // The client may leave in any way.
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => behave(socket, timers))
  })
  server.listen(socketPath ?? { port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    openCount: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer)
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function startDeafPeer(): Promise<FaultyPeer> {
  const child = spawn(process.execPath, ['-e', ACCEPTS_NOTHING], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const port = Number(line)
  const filling = Array.from({ length: FILLING }, () =>
    connect(port, '127.0.0.1').on('error', () => {}),
  )
  await once(filling[0] as Socket, 'connect')
  return {
    url: `http://127.0.0.1:${port}`,
    openCount: () => 0,
    async [Symbol.asyncDispose]() {
      for (const socket of filling) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** A server with one of the faults that a peer may have, at a point of the exchange. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { listen } from './serve.ts'
import { untilTrue } from './until.ts'

/** What the peer does with a connection, after the first bytes of a request have come. Absent: it accepts none. */
type Behaviour = (socket: Socket) => void

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n'
const DRIP_MS = 1000

/** Writes again and again until the socket ends. */
function repeat(socket: Socket, ms: number, text: string): void {
  const timer = setInterval(() => socket.write(text), ms)
  socket.once('close', () => clearInterval(timer))
}

export const PEER_FAULTS = {
  'hangs before it accepts the connection': null,
  'hangs after it accepted the connection': () => {},
  'hangs after the head': (socket) => socket.write(HEAD),
  'hangs in the body': (socket) => socket.write(`${HEAD}{"a":`),
  'sends one byte a second': (socket) => {
    socket.write(HEAD)
    repeat(socket, DRIP_MS, ' ')
  },
  'sends interim answers without end': (socket) => {
    repeat(socket, 1, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
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
  /** Open connections of requests that met with the fault. Zero where it accepts none. */
  readonly openCount: () => number
  /** Resolves when so many requests have met with the fault; at once where it accepts none. */
  readonly reached: (count?: number) => Promise<void>
}

/** Listens on loopback, or at the path of a Unix socket. */
export async function startFaultyPeer(
  fault: PeerFault,
  { socketPath }: { readonly socketPath?: string } = {},
): Promise<FaultyPeer> {
  const behave: Behaviour | null = PEER_FAULTS[fault]
  if (behave === null) return await startDeafPeer()
  const open = new Set<Socket>()
  let metCount = 0
  const server = await listen(
    (socket) => {
      socket.once('data', () => {
        open.add(socket)
        socket.once('close', () => open.delete(socket))
        behave(socket)
        metCount++
      })
    },
    socketPath === undefined ? {} : { at: socketPath },
  )
  return {
    url: server.url.replace('tcp', 'http'),
    openCount: () => open.size,
    reached: (count = 1) =>
      untilTrue(`${count} requests that meet with it`, () => metCount >= count),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
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
    reached: async () => {},
    async [Symbol.asyncDispose]() {
      for (const socket of filling) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

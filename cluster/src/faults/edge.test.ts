/** The byte-level proxy on real sockets. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock, systemRandom } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { createEdge } from './edge.ts'
import type { LinkFault } from './fault-spec.ts'
import { linkUnixSocket } from './links.ts'

const clock = createSystemClock()

/** An echo server behind an edge. */
async function startWorld() {
  const directory = await mkdtemp(join(tmpdir(), 'qs-edge-'))
  const [real, linked] = [join(directory, 'real'), join(directory, 'linked')]
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => {
    echo.listen(real, resolve)
  })
  const edge = createEdge({ clock, random: systemRandom })
  const link = await linkUnixSocket(edge, linked, real)
  return {
    set: (...faults: LinkFault[]) => edge.set(faults),
    connect: () =>
      new Promise<Socket>((resolve) => {
        const socket = createConnection(linked, () => resolve(socket))
      }),
    async [Symbol.asyncDispose]() {
      edge.cut()
      link.close()
      echo.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** What the socket hears next: bytes, or how it ended. */
function hear(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()))
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(`error ${error.code}`))
    socket.once('close', () => resolve('closed'))
  })
}

it('passes bytes both ways while there is no fault', async () => {
  await using world = await startWorld()
  const socket = await world.connect()
  socket.write('hello')
  expect(await hear(socket)).toBe('hello')
  socket.end()
  expect(await hear(socket)).toBe('closed')
})

it('holds answers back, in their order, on connections that were there before, too', async () => {
  await using world = await startWorld()
  const socket = await world.connect()
  world.set({ kind: 'slow', latencyMs: 100, jitterMs: 90 })
  const askedAt = clock.monotonicMs()
  const heard: string[] = []
  socket.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
  for (let index = 0; index < 10; index++) {
    socket.write(`${index};`)
    await clock.delay(1)
  }
  socket.end()
  await new Promise((resolve) => socket.once('close', resolve))
  expect(heard.join('')).toBe('0;1;2;3;4;5;6;7;8;9;')
  expect(clock.monotonicMs() - askedAt).toBeGreaterThanOrEqual(10)
})

it('is silent while it drops, and ends what lost bytes when it is whole again', async () => {
  await using world = await startWorld()
  const [silent, unused] = [await world.connect(), await world.connect()]
  world.set({ kind: 'drop', rate: 1 })
  silent.write('lost')
  const heard = hear(silent)
  expect(await Promise.race([heard, clock.delay(100).then(() => 'nothing')])).toBe('nothing')
  world.set()
  expect(await heard).toBe('closed')
  unused.write('whole')
  expect(await hear(unused)).toBe('whole')
  unused.destroy()
})

it('resets a connection when something is sent', async () => {
  await using world = await startWorld()
  world.set({ kind: 'reset' })
  const socket = await world.connect()
  socket.write('hello')
  expect(await hear(socket)).toMatch(/^(error|closed)/)
})

it('holds a fast sender back while a slow connection is full, and loses nothing', async () => {
  await using world = await startWorld()
  world.set({ kind: 'slow', latencyMs: 50, jitterMs: 0 })
  const socket = await world.connect()
  const bytes = Buffer.alloc(12 * 2 ** 20, 'x')
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    received += chunk.byteLength
    if (received === bytes.byteLength) socket.end()
  })
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  expect(received).toBe(bytes.byteLength)
})

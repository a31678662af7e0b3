/** The byte-level proxy on real sockets. */
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Clock, createSystemClock, systemRandom } from '@quorumscan/base'
import { createDirectory, createManualClock, listen, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEdge, link } from './edge.ts'
import type { LinkFault } from './fault-spec.ts'

const clock = createSystemClock()

/** An echo server behind an edge. */
async function startWorld(deps: Partial<Parameters<typeof createEdge>[0]> = {}) {
  const directory = createDirectory()
  const [real, linked] = [join(directory.path, 'real'), join(directory.path, 'linked')]
  let echoedBytes = 0
  const echo = await listen(
    (socket) => {
      socket.on('data', (chunk: Buffer) => {
        echoedBytes += chunk.byteLength
      })
      socket.pipe(socket)
    },
    { at: real },
  )
  const edge = createEdge({ clock, random: systemRandom, ...deps })
  const toReal = await link(edge, { at: linked, to: real })
  return {
    set: (...faults: LinkFault[]) => edge.set(faults),
    echoedBytes: () => echoedBytes,
    connect: () =>
      new Promise<Socket>((resolve) => {
        const socket = createConnection(linked, () => resolve(socket))
      }),
    async [Symbol.asyncDispose]() {
      edge.close()
      toReal.close()
      await echo[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

/** The next event of the socket: bytes, or its end. */
function receive(socket: Socket): Promise<string> {
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
  expect(await receive(socket)).toBe('hello')
  socket.end()
  expect(await receive(socket)).toBe('closed')
})

it('delays answers in order, even on existing connections', async () => {
  const manual = createManualClock()
  const delaysMs: number[] = []
  const delay: Clock['delay'] = (ms, signal) => {
    delaysMs.push(ms)
    return manual.delay(ms, signal)
  }
  // The first answer has the longest delay, later ones the shortest.
  let drawCount = 0
  const fraction = () => (drawCount++ === 0 ? 1 : 0)
  const random = { ...systemRandom, fraction }
  await using world = await startWorld({ clock: { ...manual, delay }, random })
  const socket = await world.connect()
  world.set({ kind: 'slow', latencyMs: 100, jitterMs: 90 })
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  const sent = '0;1;2;3;4;5;6;7;8;9;'
  for (const [index, text] of (sent.match(/../g) ?? []).entries()) {
    socket.write(text)
    // Each in its own chunk.
    await untilTrue('the answer to be late', () => drawCount === index + 1)
  }
  await manual.advance(189)
  // All wait for the first, which is delayed by 100 + 90 ms.
  expect(delaysMs).toEqual([190])
  expect(received).toBe('')
  await manual.advance(1)
  await untilTrue('all answers', () => received === sent)
  expect(delaysMs).toEqual([190])
  socket.destroy()
})

it('is silent while it drops, and closes connections that lost bytes once it drops no more', async () => {
  let drawCount = 0
  const fraction = () => {
    drawCount += 1
    return systemRandom.fraction()
  }
  await using world = await startWorld({ random: { ...systemRandom, fraction } })
  const [silent, unused] = [await world.connect(), await world.connect()]
  world.set({ kind: 'drop', rate: 1 })
  const received = receive(silent)
  silent.write('lost')
  // It drops these bytes.
  await untilTrue('the bytes to be dropped', () => drawCount === 1)
  world.set()
  expect(await received).toBe('closed')
  unused.write('whole')
  expect(await receive(unused)).toBe('whole')
  expect(world.echoedBytes()).toBe('whole'.length)
  unused.destroy()
})

it('resets a TCP connection when bytes are sent', async () => {
  await using echo = await listen((socket) => socket.pipe(socket))
  const edge = createEdge({ clock, random: systemRandom })
  const toEcho = await link(edge, { at: '127.0.0.1:0', to: `127.0.0.1:${echo.port}` })
  edge.set([{ kind: 'reset' }])
  const socket = createConnection(Number(toEcho.address.split(':')[1]), '127.0.0.1')
  socket.write('hello')
  expect(await receive(socket)).toBe('error ECONNRESET')
  toEcho.close()
})

it('closes a connection of a unix socket, which has no reset, when bytes are sent', async () => {
  await using world = await startWorld()
  world.set({ kind: 'reset' })
  const socket = await world.connect()
  socket.write('hello')
  expect(await receive(socket)).toMatch(/^(error ECONNRESET|closed)$/)
})

it('pauses a fast sender while a slow connection is full, and loses no byte', async () => {
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

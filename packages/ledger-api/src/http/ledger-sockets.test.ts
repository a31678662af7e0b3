/** WebSockets of the ledger interface: the limits of a client, and its errors (§L3.6). */
import { once } from 'node:events'
import { connect, type Server } from 'node:net'
import { buildServer, mountSockets } from '@quorumscan/server'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { ledgerSocketDialect } from './ledger-sockets.ts'

const ELEMENT_BYTES = 64 * 1024
const ELEMENT = JSON.stringify('x'.repeat(ELEMENT_BYTES - 2))
/** The most that the kernel and the server buffer for a local connection. */
const HELD_BYTES_MAX = 24 * 1024 * 1024

type Stream = AsyncGenerator<readonly string[]>
const it = base.extend(
  'start',
  ({ resources }) =>
    async (
      open: (signal: AbortSignal, countRows: (rows: number) => void) => Stream,
      { unitsPerSecond = null as number | null, max = 4096 } = {},
    ) => {
      const clock = createManualClock()
      const rateLimit = unitsPerSecond === null ? null : { unitsPerSecond }
      const app = buildServer({ routes: {}, handlers: {}, prefix: null, rateLimit, clock })
      const dialect = ledgerSocketDialect({
        // A token is the name of its user.
        authenticate: async ({ authorization }) => ({
          userId: authorization ?? 'alice',
          rights: [],
          expiresAt: null,
        }),
        sockets: [
          {
            path: '/v2/stream',
            request: Type.Object({}),
            open: async ({ signal, countRows }) => open(signal, countRows),
          },
        ],
        participant: 'participant::1220',
        prefix: '/api/x',
      })
      const limits = { ...dialect.limits, max }
      mountSockets(app, { dialects: [{ ...dialect, limits }], clock })
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      resources.onClose(() => app.close())
      return {
        app,
        clock,
        url,
        async connect(user?: string): Promise<WebSocket> {
          const headers = user === undefined ? {} : { authorization: user }
          const path = `${url.replace('http', 'ws')}/v2/stream`
          const socket = new WebSocket(path, 'daml.ws.auth', { headers })
          socket.on('error', () => {}) // A terminated connection is reset.
          resources.onClose(() => socket.terminate())
          await once(socket, 'open')
          return socket
        },
      }
    },
)

/** An endless stream that counts what was read of it. */
function endless() {
  const state = { bytes: 0, isOver: false }
  return {
    state,
    async *open(signal: AbortSignal): Stream {
      try {
        while (!signal.aborted) {
          state.bytes += ELEMENT_BYTES
          yield [ELEMENT]
        }
      } finally {
        state.isOver = true
      }
    },
  }
}

/** Resolves when nothing more is read. */
async function untilBlocked({ bytes }: { bytes: () => number }): Promise<void> {
  let before = -1
  await untilTrue('the stream to stall', () => {
    const isSame = bytes() === before && before > 0
    before = bytes()
    return isSame
  })
}

it('a client that stops reading uses little memory, is closed, and slows no other client', async ({
  start,
}) => {
  const streams = [endless(), endless()] as const
  let opened = 0
  const { clock, connect: open } = await start((signal) =>
    (streams[opened++] ?? streams[1]).open(signal),
  )
  const stalled = await open()
  stalled.pause()
  stalled.send('{}')
  await untilBlocked({ bytes: () => streams[0].state.bytes })
  expect(streams[0].state.bytes).toBeLessThan(HELD_BYTES_MAX)

  let received = 0
  const other = await open()
  other.on('message', () => {
    received += ELEMENT_BYTES
  })
  other.send('{}')
  await untilTrue('the other one to have received more', () => received > 2 * HELD_BYTES_MAX)
  expect(streams[0].state.isOver).toBe(false)

  await clock.advance(30_000)
  await untilTrue('the stream to be over', () => streams[0].state.isOver)
  const closed = once(stalled, 'close')
  stalled.resume()
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([1013, 'the client does not read'])
  expect(other.readyState).toBe(WebSocket.OPEN)
})

it('a client that never reads again is closed without waiting for it', async ({ start }) => {
  const stream = endless()
  const { app, clock, connect: open } = await start((signal) => stream.open(signal))
  const stalled = await open()
  stalled.pause()
  stalled.send('{}')
  await untilBlocked({ bytes: () => stream.state.bytes })
  await clock.advance(30_000)
  await untilTrue('the stream to be over', () => stream.state.isOver)
  await clock.advance(2_000)
  await untilTrue('the connection to end', async () => (await countOf(app)) === 0)
})

it('texts of every size arrive complete, in order, and before the final error', async ({
  start,
}) => {
  const sizes = [0, 125, 126, 65_535, 65_536, 300_000, 1, 127, 70_000, 2]
  const texts = sizes.flatMap((size) => ['x'.repeat(size), 'é😀'.repeat(Math.ceil(size / 6))])
  const { connect: open } = await start(async function* (): Stream {
    yield texts
    yield texts.toReversed()
    throw new Error('broken')
  })
  const socket = await open()
  const received: string[] = []
  socket.on('message', (data) => received.push(String(data)))
  const closed = once(socket, 'close')
  socket.send('{}')
  await closed
  const error = received.pop() ?? ''
  expect(JSON.parse(error)).toMatchObject({ code: expect.any(String) })
  expect(received).toEqual([...texts, ...texts.toReversed()])
})

it('without a request within 10 s the connection ends', async ({ start }) => {
  const { clock, connect: open } = await start((signal) => endless().open(signal))
  const silent = await open()
  const closed = once(silent, 'close')
  await clock.advance(9_999)
  expect(silent.readyState).toBe(silent.OPEN)
  await clock.advance(1)
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([1008, 'no request came within 10 s'])
})

it('a client that answers no ping is closed', async ({ start, resources }) => {
  const { clock, url } = await start(async function* (signal): Stream {
    yield ['1']
    await clock.delay(1e9, signal)
  })
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  resources.onClose(() => socket.destroy())
  socket.write(
    'GET /v2/stream HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      'sec-websocket-protocol: daml.ws.auth\r\n\r\n',
  )
  await once(socket, 'data')
  // The request `{}`, masked with zeros.
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]))
  await once(socket, 'data')
  const closed = once(socket, 'close')
  await clock.advance(60_000)
  await closed
})

it('a server that stops closes with 1001', async ({ start }) => {
  const {
    app,
    clock,
    connect: open,
  } = await start(async function* (signal): Stream {
    yield ['1']
    await clock.delay(1e9, signal)
  })
  const socket = await open()
  socket.send('{}')
  await once(socket, 'message')
  const closed = once(socket, 'close')
  await app.close()
  expect((await closed)[0]).toBe(1001)
})

it('a greedy user leaves sockets to ten modest ones, and gets those back that it closes', async ({
  start,
}) => {
  const { connect: open } = await start((signal) => endless().open(signal), { max: 40 })
  const isRefused = (user: string) =>
    open(user).then(
      () => false,
      (error: Error) => /503/.test(error.message),
    )
  const greedy: WebSocket[] = []
  for (let count = 0; count < 8; count++) greedy.push(await open('greedy'))
  expect(await isRefused('greedy')).toBe(true)
  for (let index = 0; index < 10; index++) await open(`modest ${index}`)
  for (const socket of greedy) socket.terminate()
  await untilTrue('a slot to be free', async () => !(await isRefused('greedy')))
})

it('a stream is paid for as it is made: rows that were read, and bytes', async ({ start }) => {
  const { clock, connect: open } = await start(
    async function* (_signal, countRows): Stream {
      countRows(50)
      yield ['x'.repeat(3 * 4096)]
    },
    { unitsPerSecond: 10 },
  )
  const socket = await open()
  const closed = once(socket, 'close')
  socket.send('{}')
  await closed
  // 1 to open it, 10 for rows, 3 for bytes: 4 more than the bucket holds, and 1 for another socket.
  await expect(open()).rejects.toThrow('429')
  await clock.advance(400)
  await expect(open()).rejects.toThrow('429')
  await clock.advance(100)
  await open()
})

/** Open connections of the server. */
function countOf({ server }: { readonly server: Server }): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))
}

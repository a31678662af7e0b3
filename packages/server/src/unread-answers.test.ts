/** Answers that clients do not read, of one client and of all. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { buildServer } from './server.ts'
import { apiSocketDialect } from './sockets/api-sockets.ts'
import { mountSockets } from './sockets/mount.ts'
import { UnreadAnswers } from './unread-answers.ts'

const MIB = 1024 * 1024

function createWorld(limits = { max: 100, perClientMax: 40 }) {
  const unread = new UnreadAnswers({ pool: 'answers', ...limits })
  const evicted: string[] = []
  return {
    evicted,
    add: (address: string | null, bytes: number, name: string) =>
      unread.add(address, bytes, () => evicted.push(name)),
  }
}

it('a client above its bound loses the answers that wait longest', () => {
  const { evicted, add } = createWorld({ max: 1000, perClientMax: 40 })
  add('10.0.0.1', 20, 'a')
  const readB = add('10.0.0.1', 20, 'b')
  add('10.0.0.2', 20, 'other')
  readB()
  add('10.0.0.1', 20, 'c')
  expect(evicted).toEqual([])
  add('10.0.0.1', 20, 'd')
  expect(evicted).toEqual(['a'])
  // A large answer alone is sent.
  add('10.0.0.3', 50, 'large')
  // A proxy serves many clients.
  for (const name of ['p', 'q', 'r']) add(null, 30, name)
  expect(evicted).toEqual(['a'])
})

it.each([
  ['a client', { max: 1000, perClientMax: 40 }, '10.0.0.1', 40],
  ['all', { max: 100, perClientMax: 1000 }, '10.0.0.2', 100],
])('keeps as many bytes of %s as the bound says, and not one more', (_, limits, other, bound) => {
  for (const [more, gone] of [
    [-1, 0],
    [0, 0],
    [1, 1],
  ] as const) {
    const { evicted, add } = createWorld(limits)
    add('10.0.0.1', 10, 'first')
    add(other, bound - 10 + more, 'second')
    expect([more, evicted.length]).toEqual([more, gone])
  }
})

it('above the bound of all, the largest client loses one', () => {
  const { evicted, add } = createWorld()
  for (const client of ['1', '2', '3', '4', '5']) add(`10.0.0.${client}`, 10, client)
  add('10.0.1.1', 20, 'x')
  add('10.0.1.1', 20, 'y')
  expect(evicted).toEqual([])
  add('10.0.1.2', 15, 'z')
  expect(evicted).toEqual(['x'])
})

it('a greedy client loses its own answers, and none of ten modest ones', () => {
  const { evicted, add } = createWorld({ max: 100, perClientMax: 80 })
  for (let round = 0; round < 20; round++) {
    add('10.0.0.1', 20, 'greedy')
    if (round < 10) add(`10.0.1.${round}`, 4, 'modest')
  }
  expect(new Set(evicted)).toEqual(new Set(['greedy']))
})

/** Three answers. */
const UNREAD_BYTES = 3 * 8 * MIB

it.for([
  ['a client does not read', { unreadBytesPerClientMax: UNREAD_BYTES }, () => '127.0.0.2'],
  ['all clients do not read', { unreadBytesMax: UNREAD_BYTES }, (index) => `127.0.1.${index}`],
] as const satisfies readonly [string, object, (index: number) => string][])(
  'a server holds no more of what %s, and serves others',
  async ([, limits, addressOf], { resources }) => {
    const answer = Buffer.alloc(8 * MIB, 0x20)
    const route = {
      tag: 'test',
      summary: '',
      errors: [],
      auth: 'none',
      cost: 1,
      operationId: 'get',
      method: 'GET',
      path: '/get',
      response: 'bytes',
    } as const
    const app = buildServer({
      routes: { get: route },
      handlers: { get: async () => ({ body: answer }) },
      prefix: null,
      rateLimit: null,
      clock: createManualClock(),
      limits,
    })
    const accepted: Socket[] = []
    app.server.on('connection', (socket: Socket) => accepted.push(socket))
    await app.listen({ host: '127.0.0.1', port: 0 })
    resources.onClose(() => app.close())
    const { port } = app.server.address() as { port: number }
    const ask = async (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress })
      socket.on('error', () => {}) // A reset is one way to be closed.
      resources.onClose(() => socket.destroy())
      await once(socket, 'connect')
      socket.pause()
      socket.write('GET /get HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      return socket
    }
    const count = 20
    for (let index = 0; index < count; index++) await ask(addressOf(index + 1))
    await untilTrue(
      'all to be answered or closed',
      () =>
        accepted.length === count && accepted.every((one) => one.bytesWritten > 0 || one.destroyed),
    )
    const waiting = accepted.reduce((bytes, socket) => bytes + socket.writableLength, 0)
    expect(waiting).toBeLessThanOrEqual(UNREAD_BYTES)
    expect(accepted.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(1)

    const other = await ask('127.0.0.3')
    let bytes = 0
    other.on('data', (data) => {
      bytes += data.byteLength
    })
    other.resume()
    await once(other, 'close')
    expect(bytes).toBeGreaterThan(answer.byteLength)
  },
)

it('a WebSocket that is not read counts like an answer, with what it has made ahead', async ({
  resources,
}) => {
  const batch = ['x'.repeat(MIB)]
  const app = buildServer({
    routes: {},
    handlers: {},
    prefix: null,
    rateLimit: null,
    clock: createManualClock(),
    limits: { unreadBytesPerClientMax: 8 * MIB },
  })
  const sockets = [
    {
      path: '/v0/stream',
      request: Type.Object({}),
      open: async () =>
        (async function* () {
          for (;;) yield batch
        })(),
    },
  ] as const
  const dialect = apiSocketDialect({ sockets, prefix: '/api/test' })
  mountSockets(app, { dialects: [dialect], clock: createManualClock() })
  const accepted: Socket[] = []
  app.server.on('connection', (socket: Socket) => accepted.push(socket))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  resources.onClose(() => app.close())
  const openOne = async (localAddress: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v0/stream`, { localAddress })
    socket.on('error', () => {}) // A reset is one way to be closed.
    resources.onClose(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  const isWaiting = ({ destroyed, writableLength }: Socket) => !destroyed && writableLength > 0
  const count = 12
  for (let index = 0; index < count; index++) {
    const socket = await openOne('127.0.0.2')
    socket.pause()
    socket.send('{}')
  }
  // Each waits with two batches: the one that the system does not take, and the next.
  await untilTrue(
    'as many as may wait',
    () =>
      accepted.length === count &&
      accepted.every((one) => one.destroyed || isWaiting(one)) &&
      accepted.filter(isWaiting).length <= 4,
  )
  expect(accepted.filter(isWaiting).length).toBeGreaterThan(1)
  const other = await openOne('127.0.0.3')
  other.send('{}')
  const [message] = await once(other, 'message')
  expect(message.byteLength).toBe(MIB)
})

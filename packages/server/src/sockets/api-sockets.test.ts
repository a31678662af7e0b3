/** Public WebSockets of the `/v0` interfaces: limits of clients, and errors. */
import { once } from 'node:events'
import { ScanError } from '@quorumscan/errors'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { buildServer } from '../server.ts'
import { type ApiSocket, apiSocketDialect } from './api-sockets.ts'
import { mountSockets, type SocketDialect } from './mount.ts'

const it = base.extend(
  'start',
  ({ resources }) =>
    async (open: ApiSocket['open'], bounds: Partial<SocketDialect> = {}) => {
      const lines: string[] = []
      const logger = createLogger({
        name: 'test',
        level: 'info',
        stream: { write: (line) => lines.push(line) },
      })
      const clock = createManualClock()
      const rateLimit = { unitsPerSecond: 10 }
      const app = buildServer({ routes: {}, handlers: {}, prefix: null, rateLimit, clock, logger })
      const sockets = [{ path: '/v0/stream', request, open }] as const
      const dialect = apiSocketDialect({ sockets, prefix: '/api/test' })
      mountSockets(app, { dialects: [{ ...dialect, ...bounds }], clock })
      const url = (await app.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws')
      resources.onClose(() => app.close())
      const connect = (path = '/v0/stream') => {
        const socket = new WebSocket(`${url}${path}`, { headers: { 'x-request-id': 'req-7' } })
        socket.on('error', () => {}) // A refusal is a status.
        resources.onClose(() => socket.terminate())
        return socket
      }
      return { lines, clock, connect }
    },
)

const request = Type.Object({ size: Type.Integer({ minimum: 1 }) })

/** The last frame and the close of a socket that is sent this first. */
async function answerTo(socket: WebSocket, first: string) {
  await once(socket, 'open')
  let last = ''
  socket.on('message', (data) => {
    last = String(data)
  })
  const closed = once(socket, 'close')
  socket.send(first)
  const [code] = await closed
  return { code, body: last === '' ? null : JSON.parse(last) }
}

/** Status and body of a refused upgrade. */
async function refusalOf(socket: WebSocket) {
  const [, response] = await once(socket, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: JSON.parse(String(Buffer.concat(chunks))) }
}

const echo: ApiSocket['open'] = async ({ request }) =>
  (async function* () {
    yield [JSON.stringify(request)]
  })()

it('a path is served at the root, below the prefix and with a double slash; no other is', async ({
  start,
}) => {
  const { connect } = await start(echo)
  for (const path of ['/v0/stream', '/api/test/v0/stream', '//v0/stream?x=1'])
    expect(await answerTo(connect(path), '{"size":2,"more":true}')).toEqual({
      code: 1000,
      body: { size: 2, more: true },
    })
  expect(await refusalOf(connect('/v0/other'))).toMatchObject({
    status: 404,
    body: { code: 'ROUTE_NOT_FOUND', request_id: 'req-7' },
  })
})

it('an invalid first frame is refused like a body, and nothing else follows', async ({ start }) => {
  const { connect, lines } = await start(echo)
  for (const [first, code, path] of [
    ['{', 'MALFORMED_BODY', undefined],
    ['{"size":0}', 'INVALID_ARGUMENT', 'body.size'],
    ['{}', 'INVALID_ARGUMENT', 'body.size'],
  ] as const)
    expect(await answerTo(connect(), first)).toMatchObject({
      code: 1000,
      body: { code, request_id: 'req-7', ...(path === undefined ? {} : { details: { path } }) },
    })
  expect((await answerTo(connect(), `"${'x'.repeat(16 * 1024)}"`)).code).toBe(1009)
  // Errors of a client are not logged.
  expect(lines.filter((line) => line.includes('err'))).toEqual([])
})

it('a frame in too many fragments is refused before it is complete', async ({ start }) => {
  const { connect } = await start(echo)
  const inFragments = async (count: number) => {
    const socket = connect()
    await once(socket, 'open')
    const closed = once(socket, 'close')
    for (const part of ['{"size":1}', ...Array<string>(count - 2).fill(' ')])
      socket.send(part, { fin: false })
    socket.send(' ', { fin: true })
    return (await closed)[0]
  }
  expect(await inFragments(60)).toBe(1000)
  expect(await inFragments(70)).toBe(1008)
})

it.for(['ping', 'message'])(
  'ends a connection that sends one %s after another, unless slowly',
  async (kind, { start }) => {
    const { clock, connect } = await start(async ({ signal }) =>
      (async function* () {
        yield ['1']
        await clock.delay(1e9, signal)
      })(),
    )
    const socket = connect()
    await once(socket, 'open')
    const answered = once(socket, 'message')
    const send = (text: string) => (kind === 'ping' ? socket.ping(text) : socket.send(text))
    socket.send('{"size":1}')
    await answered
    // When the last frame is answered, all before it have been received.
    const sendMany = async (count: number) => {
      const pong = new Promise((resolve) =>
        socket.on('pong', (data) => String(data) === 'last' && resolve(undefined)),
      )
      for (let sent = 0; sent < count; sent++) send('x')
      socket.ping('last')
      await pong
    }
    await sendMany(40)
    await clock.advance(60_000)
    await sendMany(40)
    const closed = once(socket, 'close')
    for (let sent = 0; sent < 100; sent++) send('x')
    expect((await closed)[0]).toBe(1006)
  },
)

it('no client has more sockets than its share, and a closed one frees its slot', async ({
  start,
}) => {
  const { clock, connect } = await start(
    async ({ signal }) =>
      (async function* () {
        yield ['1']
        await clock.delay(1e9, signal)
      })(),
    // Of all sockets, a client may have more: twenty.
    { limits: { pool: 'sockets', max: 100, perClientMax: 2, perNetworkMax: 100 } },
  )
  const open = [connect(), connect()] as const
  await Promise.all(open.map((socket) => once(socket, 'open')))
  expect(await refusalOf(connect())).toMatchObject({
    status: 503,
    body: { code: 'OVERLOADED', retryable: true },
  })
  // Sockets that are refused for another reason count for nothing.
  for (let count = 0; count < 3; count++)
    expect(await refusalOf(connect('/v0/other'))).toAnswer(404)
  open[0].close()
  await once(open[0], 'close')
  await once(connect(), 'open')
})

it('opening a socket and its stream cost units of the budget of the client', async ({ start }) => {
  const { clock, connect } = await start(async ({ charge }) => {
    charge(30)
    return (async function* () {
      yield ['"paid"']
      charge(1)
    })()
  })
  expect(await answerTo(connect(), '{"size":1}')).toMatchObject({
    code: 1000,
    body: { code: 'RATE_LIMITED', retryable: true },
  })
  expect(await refusalOf(connect())).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
  await clock.advance(3_000)
  await once(connect(), 'open')
})

it('an exception is reported without its reason, which is in the log', async ({ start }) => {
  const { lines, connect } = await start(async () => {
    throw new Error('the secret reason')
  })
  const { body } = await answerTo(connect(), '{"size":1}')
  expect(body).toMatchObject({ code: 'INTERNAL', request_id: 'req-7' })
  expect(JSON.stringify(body)).not.toContain('secret')
  expect(lines.join()).toContain('the secret reason')
})

it('an error is sent after the elements before it', async ({ start }) => {
  const { connect } = await start(async () =>
    (async function* () {
      yield ['1', '2']
      throw new ScanError('CONSENSUS_LAGGING', 'not yet')
    })(),
  )
  const socket = connect()
  await once(socket, 'open')
  const frames: string[] = []
  socket.on('message', (data) => frames.push(String(data)))
  socket.send('{"size":1}')
  await once(socket, 'close')
  expect(frames.slice(0, 2)).toEqual(['1', '2'])
  expect(frames.slice(2).map((frame) => JSON.parse(frame).code)).toEqual(['CONSENSUS_LAGGING'])
})

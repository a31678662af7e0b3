/** Offers of another protocol, and methods that no operation has, over real connections, with TLS and without. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { createLogger, openTlsCertificate } from '@quorumscan/runtime'
import {
  createAuthority,
  createManualClock,
  createRawClient,
  textUntilClosed,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { buildServer, type ServerOptions } from './server.ts'
import { apiSocketDialect } from './sockets/api-sockets.ts'
import { mountSockets } from './sockets/mount.ts'

const common = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  get: { ...common, operationId: 'get', method: 'GET', path: '/get', response: Type.String() },
  put: {
    ...common,
    operationId: 'put',
    method: 'POST',
    path: '/put',
    body: Type.Object({ size: Type.Integer() }),
    response: Type.Integer(),
  },
} as const

const it = base
  .extend('authority', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority()),
  )
  .extend('files', { scope: 'file' }, ({ authority }) => authority.issue('sv-1'))
  .extend(
    'start',
    ({ files, authority, resources }) =>
      async (
        scheme: 'http' | 'https' = 'http',
        options: Partial<ServerOptions<typeof routes, never>> = {},
      ) => {
        const { clock = createManualClock() } = options
        const lines: string[] = []
        const logger = createLogger({
          name: 'test',
          level: 'warn',
          stream: { write: (line) => lines.push(line) },
        })
        const server = buildServer({
          routes,
          handlers: {
            get: async (request) => ({ body: request.header('x-mark') ?? 'got' }),
            put: async ({ body }) => ({ body: body.size }),
          },
          prefix: null,
          rateLimit: null,
          clock,
          logger,
          certificate:
            scheme === 'http' ? null : await openTlsCertificate(files, { clock, logger }),
          ...options,
        })
        await server.listen({ host: '127.0.0.1', port: 0 })
        resources.onClose(() => server.close())
        const { port } = server.server.address() as { port: number }
        const ca = scheme === 'http' ? null : await readFile(authority.caFile)
        const client = createRawClient(port, ca)
        resources.onClose(() => client[Symbol.dispose]())
        return {
          server,
          port,
          connect: client.open,
          lines,
          clock,
          connectionCount: () =>
            new Promise<number>((resolve) =>
              server.server.getConnections((_, count) => resolve(count)),
            ),
        }
      },
  )

/** Status and body of each answer; of interim answers the status. */
function answersIn(text: string): readonly string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map((answer) => `${answer.slice(9, 12)} ${answer.split('\r\n\r\n')[1]}`.trim())
}

const H2C =
  'host: a\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk'
const LAST = 'GET /get HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx-mark: last\r\n\r\n'
const get = (offer: string) => `GET /get HTTP/1.1\r\n${offer}\r\n\r\n`
const put = (head: string, body: string) =>
  `POST /put HTTP/1.1\r\ncontent-type: application/json\r\n${head}\r\n\r\n${body}`
const offers = (protocol: string) => `host: a\r\nconnection: Upgrade\r\nupgrade: ${protocol}`
const BODY = '{"size":3}'

describe.each(['http', 'https'] as const)('over %s', (scheme) => {
  it.for([
    ['h2c', get(H2C), ['200 "got"']],
    ['TLS', get(offers('TLS/1.2')), ['200 "got"']],
    ['an unknown protocol', get(offers('x/1')), ['200 "got"']],
    ['a WebSocket on a path without one', get(offers('websocket')), ['200 "got"']],
    ['several protocols', get(offers('h2c, websocket, x')), ['200 "got"']],
    ['several headers', get(`${offers('h2c')}\r\nupgrade: x`), ['200 "got"']],
    ['a header of the request', get(`${H2C}\r\nx-mark: \xe9`), ['200 "é"']],
    ['an offer without a connection header', get('host: a\r\nupgrade: h2c'), ['200 "got"']],
    ['a body', put(`${H2C}\r\ncontent-length: 10`, BODY), ['200 3']],
    [
      'a body in chunks',
      put(`${H2C}\r\ntransfer-encoding: chunked`, `a\r\n${BODY}\r\n0\r\n\r\n`),
      ['200 3'],
    ],
    [
      'an expectation',
      put(`${H2C}\r\nexpect: 100-continue\r\ncontent-length: 10`, BODY),
      ['100', '200 3'],
    ],
    [
      'an unknown expectation',
      put(`${H2C}\r\nexpect: the-best\r\ncontent-length: 10`, BODY),
      ['200 3'],
    ],
    ['an unknown path', `GET /no HTTP/1.1\r\n${H2C}\r\n\r\n`, [expect.stringMatching(/^404 /)]],
    ['another method', `DELETE /get HTTP/1.1\r\n${H2C}\r\n\r\n`, [expect.stringMatching(/^405 /)]],
    [
      'requests in a pipeline',
      `${get(H2C)}${put(`${H2C}\r\ncontent-length: 10`, BODY)}${get('host: a')}${get(H2C)}`,
      ['200 "got"', '200 3', '200 "got"', '200 "got"'],
    ],
  ] as const)(
    'an offer is ignored and the request answered: %s',
    async ([, bytes, expected], { start }) => {
      const { connect } = await start(scheme)
      const socket = await connect()
      socket.write(bytes + LAST, 'latin1')
      // After a body in chunks, the server ends the connection.
      const last = bytes.includes('chunked') ? [] : ['200 "last"']
      expect(answersIn(await textUntilClosed(socket))).toEqual([...expected, ...last])
    },
  )

  it('an offer that arrives byte by byte is ignored', async ({ start }) => {
    const { connect } = await start(scheme)
    const socket = await connect()
    const answers = textUntilClosed(socket.setNoDelay())
    for (const byte of get(H2C) + LAST) {
      socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(answersIn(await answers)).toEqual(['200 "got"', '200 "last"'])
  })

  it('a connection takes any number of offers, and leaves nothing behind', async ({ start }) => {
    const { server, connect, lines, connectionCount } = await start(scheme)
    const accepted = once(server.server, scheme === 'http' ? 'connection' : 'secureConnection')
    const socket = await connect()
    const [own] = (await accepted) as [Socket]
    const listenerCount = () =>
      own.eventNames().reduce((count, name) => count + own.listenerCount(name), 0)
    const answers = textUntilClosed(socket)
    const before = listenerCount()
    for (let round = 0; round < 40; round++) {
      const answered = once(socket, 'data')
      socket.write(get(H2C))
      await answered
    }
    expect(listenerCount()).toBeLessThan(before + 3)
    socket.write(LAST)
    expect(answersIn(await answers)).toHaveLength(41)
    await untilTrue('the connection to be closed', async () => (await connectionCount()) === 0)
    expect(lines).toEqual([])
  })

  it.for([
    ['closed at once', (socket: Socket) => socket.destroy()],
    ['half-closed', (socket: Socket) => socket.end()],
  ] as const)(
    'a connection with an offer that is %s does not remain',
    async ([, leave], { start }) => {
      const { connect, connectionCount } = await start(scheme)
      for (const bytes of [
        get(H2C),
        get(offers('websocket')),
        `POST /put HTTP/1.1\r\n${H2C}\r\n`,
      ]) {
        const socket = await connect()
        socket.write(bytes)
        leave(socket)
      }
      await untilTrue('all connections to be closed', async () => (await connectionCount()) === 0)
    },
  )

  it('an offer waits for the answers before it, and the end of the client ends it', async ({
    start,
  }) => {
    let finish = (): void => {}
    const waits = new Promise<void>((resolve) => {
      finish = resolve
    })
    let begun = 0
    const { connect, connectionCount } = await start(scheme, {
      handlers: {
        get: async (request) => {
          const mark = request.header('x-mark') ?? 'got'
          begun++
          if (mark === 'slow') await waits
          return { body: mark }
        },
        put: async ({ body }) => ({ body: body.size }),
      },
    })
    const slow = get('host: a\r\nx-mark: slow')
    const [left, stays] = [await connect(), await connect()]
    for (const socket of [left, stays]) socket.write(slow + get(H2C) + LAST)
    await untilTrue('both requests to begin', () => begun === 2)
    left.destroy()
    finish()
    expect(answersIn(await textUntilClosed(stays))).toEqual([
      '200 "slow"',
      '200 "got"',
      '200 "last"',
    ])
    await untilTrue('all connections to be closed', async () => (await connectionCount()) === 0)
  })

  it('the server closes with offers, tunnels and beginnings of requests open', async ({
    start,
  }) => {
    const { server, clock, connect } = await start(scheme)
    const half = put(`${H2C}\r\ncontent-length: 10`, '')
    const sockets = await Promise.all(
      [half, get(H2C), 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'GET /get HT'].map(
        async (bytes) => {
          const socket = await connect()
          socket.allowHalfOpen = true
          socket.write(bytes)
          return socket
        },
      ),
    )
    await untilTrue('the requests to be read', () => (sockets[1]?.bytesRead ?? 0) > 0)
    const closing = server.close()
    await untilTrue('the server to stop listening', () => !server.server.listening)
    await (clock as ReturnType<typeof createManualClock>).advance(10_000)
    await closing
  })

  it.for([
    ['QUERY', '/get', 501],
    ['PROPFIND', '/get', 501],
    ['TRACE', '/get', 501],
    ['QUERY', '/no', 501],
    ['CONNECT', 'a:443', 501],
    ['CONNECT', '/get', 501],
    ['PATCH', '/get', 405],
    ['DELETE', '/put', 405],
    ['PATCH', '/no', 404],
    ['OPTIONS', '/get', 204],
  ] as const)(
    '%s %s is answered with %i, and the process logs no error',
    async ([method, path, status], { start }) => {
      const { connect, lines } = await start(scheme)
      for (const headers of ['connection: close', 'connection: close, upgrade\r\nupgrade: h2c']) {
        const socket = await connect()
        socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`)
        const text = await textUntilClosed(socket)
        expect(text.slice(9, 12)).toBe(String(status))
        if (status === 405) expect(text).toMatch(/^allow: (HEAD, GET|POST)\r$/m)
        if (status === 501) expect(text).toContain('"code":"METHOD_NOT_IMPLEMENTED"')
      }
      expect(lines).toEqual([])
    },
  )
})

it('an offer in HTTP/1.0 is ignored', async ({ start }) => {
  const { connect } = await start()
  const socket = await connect()
  socket.write(get(offers('h2c')).replace('1.1', '1.0'))
  expect(answersIn(await textUntilClosed(socket))).toEqual(['200 "got"'])
})

it('only a handshake on the path of a WebSocket is taken', async ({ start, resources }) => {
  const started = await start('http', {})
  await started.server.close()
  const clock = createManualClock()
  const app = buildServer({
    routes: { stream: { ...routes.put, path: '/v0/stream' } } as never,
    handlers: { put: async () => ({ body: 3 }) } as never,
    prefix: null,
    rateLimit: null,
    clock,
  })
  const dialect = apiSocketDialect({
    sockets: [
      {
        path: '/v0/stream',
        request: Type.Object({}),
        open: async () =>
          (async function* () {
            yield ['1']
          })(),
      },
    ],
    prefix: '/api/test',
  })
  mountSockets(app, { dialects: [dialect], clock })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  resources.onClose(() => app.close())
  const { port } = app.server.address() as { port: number }
  const ask = async (bytes: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    const answered = textUntilClosed(socket)
    await once(socket, 'data')
    socket.end()
    return answered
  }
  const key = 'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  const handshake = (protocol: string) => `GET /v0/stream HTTP/1.1\r\n${offers(protocol)}\r\n${key}`
  expect(await ask(handshake('websocket'))).toMatch(/^HTTP\/1\.1 101 /)
  expect(await ask(handshake('h2c, WebSocket'))).toMatch(/^HTTP\/1\.1 101 /)
  expect(await ask(handshake('h2c'))).toMatch(/^HTTP\/1\.1 405 /)
  expect(await ask(handshake('websocket').replace('1.1', '1.0'))).toMatch(/^HTTP\/1\.1 405 /)
  const body = `content-length: 10\r\n${offers('websocket')}\r\n${key}${BODY}`
  expect(await ask(`GET /v0/stream HTTP/1.1\r\n${body}`)).toMatch(/^HTTP\/1\.1 405 /)
  const post = `POST /v0/stream HTTP/1.1\r\ncontent-type: application/json\r\n${body}`
  expect(await ask(post)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n3$/s)

  // Open WebSockets, and connections in between, are reached as well.
  const open = new WebSocket(`${url.replace('http', 'ws')}/v0/stream`)
  open.on('error', () => {})
  await once(open, 'open')
  const ended = once(open, 'close')
  app.server.closeAllConnections()
  await ended
})

import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const clock = createSystemClock()
const common = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  slow: {
    ...common,
    operationId: 'slow',
    method: 'POST',
    path: '/slow',
    body: Type.Object({}),
    response: Type.Boolean(),
  },
  livez: {
    ...common,
    operationId: 'livez',
    method: 'GET',
    path: '/livez',
    response: null,
    cost: 0,
  },
} as const

const ask = {
  ...common,
  operationId: 'ask',
  method: 'GET',
  path: '/ask',
  response: Type.Boolean(),
} as const
const askRequest = 'GET /ask HTTP/1.1\r\nhost: a\r\n\r\n'

/** Promise.withResolvers, which Node 20 lacks. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (value: T) => resolve(value) }
}

/** A server whose slow operation waits for `finish`, or for its signal. */
async function start(options: Partial<ServerOptions<typeof routes, never>> = {}) {
  const started = deferred<AbortSignal>()
  const finished = deferred<void>()
  const server = buildServer({
    routes,
    handlers: {
      slow: async ({ signal }) => {
        started.resolve(signal)
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
        })
        await Promise.race([finished.promise, aborted])
        return { body: signal.aborted }
      },
      livez: async () => ({ body: null }),
    },
    prefix: null,
    rateLimit: null,
    ...options,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    server,
    url,
    /** Resolves with the handler's signal once it runs. */
    started: started.promise,
    finish: () => finished.resolve(undefined),
    ask: (signal?: AbortSignal) =>
      fetch(`${url}/slow`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
        signal: signal ?? null,
      }),
    port: Number(new URL(url).port),
    connect: () => connect(Number(new URL(url).port), '127.0.0.1'),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

it('closing answers what is under way, ends its connection, and takes nothing new', async () => {
  await using running = await start()
  const reply = running.ask()
  await running.started
  const closed = running.server.close()
  await untilTrue('the server to stop listening', () => !running.server.server.listening)
  running.finish()
  expect([(await reply).status, (await reply).headers.get('connection')]).toEqual([200, 'close'])
  await closed
  await expect(running.ask()).rejects.toThrow()
})

it('a request that arrives while closing is refused, a probe is answered', async () => {
  await using running = await start()
  const reply = running.ask()
  await running.started
  const accepted: Socket[] = []
  running.server.server.on('connection', (socket: Socket) => accepted.push(socket))
  const opened = [running.connect(), running.connect()]
  for (const socket of opened) socket.write('GET /l')
  const sockets = opened.map(textUntilClosed)
  // Both are in the middle of a request, so that closing spares them.
  await untilTrue(
    'the beginnings of both requests to be read',
    () => accepted.filter(({ bytesRead }) => bytesRead > 0).length === 2,
  )
  const closed = running.server.close()
  await untilTrue('the server to stop listening', () => !running.server.server.listening)
  opened[0]?.write('ost HTTP/1.1\r\nhost: a\r\n\r\n')
  opened[1]?.write('ivez HTTP/1.1\r\nhost: a\r\n\r\n')
  const [refused, probe] = await Promise.all(sockets)
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*"code":"NOT_READY"/s)
  expect(probe).toMatch(/^HTTP\/1\.1 200 /)
  running.finish()
  await expect(await reply).toAnswer(200)
  await closed
})

it('closing waits for no connection that has asked nothing', async () => {
  await using running = await start({ clock: createManualClock() })
  const accepted = once(running.server.server, 'connection')
  const socket = running.connect()
  await accepted
  const ended = textUntilClosed(socket)
  await running.server.close()
  expect(await ended).toBe('')
})

it('closing does not wait longer than the drain time', async () => {
  const manual = createManualClock()
  await using running = await start({ clock: manual })
  const reply = running.ask().catch((error: Error) => error)
  await running.started
  const closed = running.server.close()
  await untilTrue('the server to stop listening', () => !running.server.server.listening)
  await manual.advance(10_000)
  await closed
  expect(await reply).toBeInstanceOf(Error)
})

it('the signal of a handler aborts when its client leaves, and not before', async () => {
  await using running = await start()
  const client = new AbortController()
  const gone = running.ask(client.signal)
  const signal = await running.started
  expect(signal.aborted).toBe(false)
  client.abort()
  await expect(gone).rejects.toThrow()
  await untilTrue('the signal of the handler', () => signal.aborted)
})

it('a request whose handler takes too long gets 503, and its signal aborts', async () => {
  const manual = createManualClock()
  await using running = await start({ clock: manual })
  const reply = running.ask()
  const signal = await running.started
  await manual.advance(59_999)
  expect(signal.aborted).toBe(false)
  await manual.advance(1)
  await expect(await reply).toAnswer(503)
  expect(await (await reply).json()).toMatchObject({
    code: 'DEPENDENCY_UNAVAILABLE',
    definite: false,
  })
  expect(signal.aborted).toBe(true)
})

async function textUntilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {}) // A reset is one way to be closed, and would end `once`.
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

it.each([
  ['headers', 'POST /slow HTTP/1.1\r\nhost: a\r\n'],
  ['a body', 'POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{'],
])('a client that never finishes sending %s is cut off with 408', async (_, text) => {
  await using running = await start({ limits: { requestMsMax: 100 } })
  const socket = running.connect()
  socket.write(text)
  expect(await textUntilClosed(socket)).toMatch(/^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s)
})

/** Above the time of any test. */
const HOUR_MS = 3_600_000
const NO_OTHER_LIMIT = {
  idleConnectionMsMax: HOUR_MS,
  keepAliveMsMax: HOUR_MS,
  answerMsMax: HOUR_MS,
  handlerMsMax: HOUR_MS,
}
const POST_HEAD = 'POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n'

it.each([
  ['half a head, by its deadline', 'GET /li', { requestMsMax: 100, bodyMsMax: HOUR_MS }],
  [
    'a body that no interface reads, by its deadline',
    'GET /livez HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{',
    { requestMsMax: 100, bodyMsMax: 100 },
  ],
  ['a head and its end', POST_HEAD, { requestMsMax: HOUR_MS, bodyMsMax: HOUR_MS }],
  ['half a head and its end', 'GET /li', { requestMsMax: HOUR_MS, bodyMsMax: HOUR_MS }],
  ['half a body and its end', `${POST_HEAD}{`, { requestMsMax: HOUR_MS, bodyMsMax: HOUR_MS }],
  ['its end alone', '', { requestMsMax: HOUR_MS, bodyMsMax: HOUR_MS }],
] as const)(
  'a connection is closed after %s, without any other limit',
  async (what, text, limits) => {
    await using running = await start({ limits: { ...NO_OTHER_LIMIT, ...limits } })
    const accepted = once(running.server.server, 'connection')
    const socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {}) // A reset is one way to be closed.
    if (what.endsWith('end') || what.endsWith('alone')) socket.end(text)
    else socket.write(text)
    const [ofServer] = await accepted
    if (!ofServer.closed) await once(ofServer, 'close')
    socket.destroy()
  },
)

it('the answer to a late body has the id of its request', async () => {
  await using running = await start({ limits: { requestMsMax: 100 } })
  const socket = running.connect()
  socket.write('POST /slow HTTP/1.1\r\nhost: a\r\nx-request-id: r-1\r\ncontent-length: 10\r\n\r\n{')
  const answer = await textUntilClosed(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*x-request-id: r-1.*"request_id":"r-1"/s)
})

it('a client that is late is cut off even if it never closes its side', async () => {
  await using running = await start({ limits: { requestMsMax: 100 } })
  const accepted = once(running.server.server, 'connection')
  const socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write('GET /li')
  const [ofServer] = await accepted
  await once(ofServer, 'close')
  socket.destroy()
})

it('at the limit of a client, its longest idle connection makes room', async () => {
  await using running = await start({ limits: { connectionsPerClientMax: 2 } })
  const sockets: Socket[] = []
  for (let count = 0; count < 2; count++) {
    const accepted = once(running.server.server, 'connection')
    sockets.push(running.connect())
    await accepted
  }
  const [first, second] = sockets.map(textUntilClosed)
  await expect(await fetch(`${running.url}/livez`)).toAnswer(200)
  expect(await first).toBe('')
  sockets[1]?.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  expect(await second).toMatch(/^HTTP\/1\.1 200 /)
})

it.each([
  ['all clients', { connectionsMax: 2 }, ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
  [
    'a network',
    { connectionsPerNetworkMax: 2 },
    ['2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:0:3::1'],
  ],
])('at the limit of %s, the longest idle connection makes room', async (_, limits, addresses) => {
  await using running = await start({ limits })
  const sockets = addresses.map((value) =>
    Object.defineProperty(new Socket(), 'remoteAddress', { value }),
  )
  for (const socket of sockets) running.server.server.emit('connection', socket)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
})

it('where all connections are busy, a new one is closed', async () => {
  await using running = await start({ limits: { connectionsPerClientMax: 1 } })
  const reply = running.ask()
  await running.started
  expect(await textUntilClosed(running.connect())).toBe('')
  running.finish()
  await expect(await reply).toAnswer(200)
})

describe('a body that is not read to its end', () => {
  const head = (more: string) =>
    `POST /slow HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${more}\r\n\r\n`
  const bytes = 4 * 1024 * 1024
  it.each([
    [
      'announced',
      head(`content-length: ${bytes}`),
      'x'.repeat(bytes),
      /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s,
    ],
    [
      'in chunks',
      head('transfer-encoding: chunked'),
      `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(1024),
      /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s,
    ],
    [
      'in chunks of a byte',
      head('transfer-encoding: chunked'),
      '1\r\nx\r\n'.repeat(500_000),
      /^HTTP\/1\.1 400 .*too many small pieces/s,
    ],
    [
      'in chunks of extensions',
      head('transfer-encoding: chunked'),
      `100;${'x'.repeat(16_000)}\r\n${'x'.repeat(256)}\r\n`.repeat(200),
      /^HTTP\/1\.1 400 .*too many small pieces/s,
    ],
    [
      'of an unknown method',
      head('transfer-encoding: chunked').replace('POST', 'PUT'),
      `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(1024),
      /^HTTP\/1\.1 405 /,
    ],
  ])('%s, is sent to its end, and the answer is read', async (_, headers, body, answer) => {
    await using running = await start()
    const socket = running.connect()
    socket.write(headers)
    const sent = new Promise((resolve) => socket.write(body, resolve))
    const text = await textUntilClosed(socket)
    expect(await sent).toBeFalsy()
    expect(text).toMatch(answer)
    expect(text).toMatch(/^connection: close/im)
  })
})

it('a client may finish a short body after the last answer', async () => {
  await using running = await start({ limits: { bodyBytesMax: 1_000 } })
  const socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(
    'POST /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2000\r\n\r\n',
  )
  socket.resume()
  await once(socket, 'end')
  const closed = once(socket, 'close')
  socket.write('x'.repeat(1_000))
  socket.end('x'.repeat(1_000))
  expect(await closed).toEqual([false])
})

it('a client that does not close its side after the last answer is cut off', async () => {
  await using running = await start({ limits: { answerMsMax: 100 } })
  const accepted = once(running.server.server, 'connection')
  const socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write('this is no HTTP\r\n\r\n')
  const [ofServer] = await accepted
  await once(ofServer, 'close')
  socket.destroy()
})

it('a client that sends a body without end is cut off after a bounded rest of it', async () => {
  await using running = await start()
  const socket = running.connect()
  socket.on('error', () => {}) // It is reset while it still sends.
  const taken = () => new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  const mib = Buffer.alloc(1024 * 1024, '1')
  socket.write('POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n')
  for (let sentMib = 0; sentMib < 100 && !socket.destroyed; sentMib++)
    if (!socket.write(mib)) await taken()
  socket.destroy()
  expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024)
})

it('a client that pipelines more than eight requests is cut off', async () => {
  await using running = await start()
  const socket = running.connect()
  socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2_000))
  const text = await textUntilClosed(socket)
  expect(text.split('HTTP/1.1 200').length - 1).toBeLessThanOrEqual(9)
})

it('a client that always pipelines eight requests is answered', async () => {
  await using running = await start()
  const socket = running.connect()
  const request = 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n'
  socket.write(request.repeat(9))
  let count = 0
  await new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error(`the connection ended after ${count} answers`)))
    socket.on('data', (bytes) => {
      const answers = bytes.toString().split('HTTP/1.1 200').length - 1
      count += answers
      if (count >= 200) resolve()
      else socket.write(request.repeat(answers))
    })
  })
})

it('a refused client is read again after a second; other clients do not wait', async () => {
  await using running = await start({ rateLimit: { unitsPerSecond: 0.001 } })
  const socket = running.connect()
  const probe = 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n'
  const slow = 'POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}'
  running.finish()
  const begunMs = clock.monotonicMs()
  socket.write(slow + slow)
  await untilText(socket, 'HTTP/1.1 429')
  socket.write(probe)
  const other = running.connect()
  other.write(probe)
  const refused = untilText(socket, 'HTTP/1.1 200').then(() => 'the refused client')
  const first = untilText(other, 'HTTP/1.1 200').then(() => 'the other')
  expect(await Promise.race([refused, first])).toBe('the other')
  await refused
  expect(clock.monotonicMs() - begunMs).toBeGreaterThan(900)
  socket.destroy()
  other.destroy()
})

it('a new connection gets an answer while 200 others ask again and again', async () => {
  let answeredCount = 0
  let acceptedCount = 0
  await using server = buildServer({
    routes: { ask },
    handlers: { ask: async () => ({ body: ++answeredCount > 0 }) },
    prefix: null,
    rateLimit: null,
    // Each answer and each accepted connection takes 1 ms. So a turn of 10 ms starts ten requests,
    // and up to 40 connections are accepted before such a turn (ACCEPTING_MS).
    clock: { ...clock, monotonicMs: () => answeredCount + acceptedCount },
  })
  server.server.on('connection', () => acceptedCount++)
  const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
  const others = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
  await Promise.all(others.map((socket) => once(socket, 'connect')))
  for (const socket of others) {
    socket.on('error', () => {}).on('data', () => socket.write(askRequest))
    socket.write(askRequest)
  }
  await untilTrue('all others to ask again', () => answeredCount > 200)
  const before = answeredCount
  // They arrive at once, and Node accepts one in a turn.
  const newcomers = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'))
  for (const socket of newcomers) socket.write(askRequest)
  expect(new Set(await Promise.all(newcomers.map(statusOf)))).toEqual(new Set(['200']))
  // 60 answers to the newcomers, 200 to requests that waited when they came, and 90 for the turns
  // that start requests while they are accepted.
  expect(answeredCount - before).toBeLessThan(60 + 200 + 90)
  for (const socket of [...others, ...newcomers]) socket.destroy()
})

const slowRequest = 'POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}'

it('requests that would be answered too late are refused', async () => {
  let nowMs = 0
  let calls = 0
  await using server = buildServer({
    routes: { ask, livez: routes.livez },
    handlers: {
      // Each request takes 100 ms, so a turn starts one.
      ask: async () => {
        nowMs += 100
        return { body: ++calls > 0 }
      },
      livez: async () => ({ body: null }),
    },
    prefix: null,
    rateLimit: null,
    clock: { ...clock, monotonicMs: () => nowMs },
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const sockets = Array.from({ length: 30 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const statuses = sockets.map(statusOf)
  for (const socket of sockets) socket.write(askRequest)
  expect(new Set(await Promise.all(statuses))).toEqual(new Set(['200', '503']))
  expect(calls).toBeLessThan(30)
  await expect(await fetch(`${url}/livez`)).toAnswer(200)
  for (const socket of sockets) socket.destroy()
})

it('no handler runs for a client that left before its turn', async () => {
  let calls = 0
  await using running = await start({
    rateLimit: { unitsPerSecond: 1 },
    handlers: {
      slow: async () => ({ body: ++calls > 0 }),
      livez: async () => ({ body: null }),
    },
  })
  const accepted = once(running.server.server, 'connection')
  const socket = running.connect()
  socket.write(slowRequest + slowRequest)
  await untilText(socket, 'HTTP/1.1 429')
  const [ofServer] = await accepted
  socket.write(slowRequest)
  socket.end()
  // The socket is read again once the client has units.
  await once(ofServer, 'close')
  expect(calls).toBe(1)
})

/** The status of the next answer. */
async function statusOf(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data')
  return String(bytes).slice(9, 12)
}

/** Waits until this text is received. */
function untilText(socket: Socket, text: string): Promise<void> {
  let received = ''
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error(`closed after ${received}`)))
    socket.on('data', (bytes) => {
      received += bytes
      if (received.includes(text)) resolve()
    })
  })
}

it('a client that does not take its answer is cut off', async () => {
  const body = Buffer.alloc(32 * 1024 * 1024, '1')
  await using server = buildServer({
    routes: { slow: routes.slow },
    handlers: { slow: async () => ({ body }) },
    prefix: null,
    rateLimit: null,
    limits: { answerMsMax: 100 },
  })
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const accepted = once(server.server, 'connection')
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {}).pause()
  socket.write('POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}')
  const [ofServer] = await accepted
  await once(ofServer, 'close')
  socket.destroy()
})

it('a stream that its client does not read is cut off by the limit of idle connections, and ends', async () => {
  const ended = deferred<void>()
  const operation = { ...common, operationId: 'stream', method: 'GET', path: '/stream' } as const
  await using server = buildServer({
    routes: { stream: { ...operation, response: 'bytes' } },
    handlers: {
      stream: async () => ({
        body: (async function* () {
          try {
            for (;;) yield Buffer.alloc(64 * 1024)
          } finally {
            ended.resolve(undefined)
          }
        })(),
      }),
    },
    prefix: null,
    rateLimit: null,
    limits: {
      ...NO_OTHER_LIMIT,
      requestMsMax: HOUR_MS,
      bodyMsMax: HOUR_MS,
      idleConnectionMsMax: 100,
    },
  })
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const accepted = once(server.server, 'connection')
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {}).pause()
  socket.write('GET /stream HTTP/1.1\r\nhost: a\r\n\r\n')
  const [ofServer] = await accepted
  await Promise.all([once(ofServer, 'close'), ended.promise])
  socket.destroy()
})

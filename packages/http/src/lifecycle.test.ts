import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { createManualClock, until, untilTrue } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const _clock = createSystemClock()
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
    connect: () => connect(Number(new URL(url).port), '127.0.0.1'),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

test('closing answers what is under way, ends its connection, and takes nothing new', async () => {
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

test('a request that gets through while closing is told so, a probe is answered', async () => {
  await using running = await start()
  const reply = running.ask()
  await running.started
  const accepted: Socket[] = []
  running.server.server.on('connection', (socket: Socket) => accepted.push(socket))
  const late = [running.connect(), running.connect()]
  for (const socket of late) socket.write('GET /l')
  const sockets = late.map(textUntilClosed)
  // Both are in the middle of a request, so that closing spares them.
  await untilTrue(
    'the beginnings of both requests to be read',
    () => accepted.filter(({ bytesRead }) => bytesRead > 0).length === 2,
  )
  const closed = running.server.close()
  await untilTrue('the server to stop listening', () => !running.server.server.listening)
  late[0]?.write('ost HTTP/1.1\r\nhost: a\r\n\r\n')
  late[1]?.write('ivez HTTP/1.1\r\nhost: a\r\n\r\n')
  const [refused, probe] = await Promise.all(sockets)
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*"code":"NOT_READY"/s)
  expect(probe).toMatch(/^HTTP\/1\.1 200 /)
  running.finish()
  expect((await reply).status).toBe(200)
  await closed
})

test('closing waits for no connection that has asked nothing', async () => {
  await using running = await start({ clock: createManualClock() })
  const accepted = once(running.server.server, 'connection')
  const socket = running.connect()
  await accepted
  const ended = textUntilClosed(socket)
  await running.server.close()
  expect(await ended).toBe('')
})

test('closing does not wait longer than the drain time', async () => {
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

test('a handler is told when its client goes away, and not before', async () => {
  await using running = await start()
  const client = new AbortController()
  const gone = running.ask(client.signal)
  const signal = await running.started
  expect(signal.aborted).toBe(false)
  client.abort()
  await expect(gone).rejects.toThrow()
  await untilTrue('the signal of the handler', () => signal.aborted)
})

test('a handler that takes too long is given up on, and told so', async () => {
  const manual = createManualClock()
  await using running = await start({ clock: manual })
  const reply = running.ask()
  const signal = await running.started
  await manual.advance(60_000)
  expect((await reply).status).toBe(503)
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
  socket.on('error', () => {}) // A reset is one way to be closed.
  await once(socket, 'close')
  return text
}

test.each([
  ['headers', 'POST /slow HTTP/1.1\r\nhost: a\r\n'],
  ['a body', 'POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{'],
])('a client that never finishes sending %s is cut off with 408', async (_, text) => {
  await using running = await start({ limits: { requestMsMax: 100 } })
  const socket = running.connect()
  socket.write(text)
  expect(await textUntilClosed(socket)).toMatch(/^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s)
})

test('one client gets its share of connections and no more', async () => {
  await using running = await start({ limits: { connectionsPerClientMax: 2 } })
  const sockets = [running.connect(), running.connect()]
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(await textUntilClosed(running.connect())).toBe('')
  for (const socket of sockets) socket.destroy()
  await until(
    'a connection to be free again',
    async () => (await fetch(`${running.url}/livez`).catch(() => null)) ?? undefined,
  )
})

/** A server behind a reverse proxy: what bounds clients bounds those that the proxy tells, and never the proxy. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const common = { tag: 'test', summary: '', errors: [], auth: 'none', method: 'GET' } as const
const routes = {
  ask: { ...common, operationId: 'ask', path: '/ask', response: Type.Boolean(), cost: 1 },
  livez: { ...common, operationId: 'livez', path: '/livez', response: null, cost: 0 },
} as const

const ALICE = '192.0.2.1'
const BOB = '2001:db8:1:1::1'

/** Its proxy is at this machine. */
async function start(options: Partial<ServerOptions<typeof routes, never>> = {}) {
  const server = buildServer({
    routes,
    handlers: { ask: async () => ({ body: true }), livez: async () => ({ body: null }) },
    prefix: null,
    rateLimit: null,
    proxies: { trusted: ['127.0.0.1'], header: 'x-forwarded-for' },
    clock: createManualClock(),
    ...options,
  })
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const sockets: Socket[] = []
  return {
    connect() {
      const socket = connect(Number(port), '127.0.0.1')
      sockets.push(socket)
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await server.close()
    },
  }
}

/** The status that one of the proxy's clients is answered with. */
async function statusFor(
  socket: Socket,
  client: string,
  path = '/ask',
  method = 'GET',
): Promise<number> {
  const answered = once(socket, 'data')
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 203.0.113.1, ${client}\r\n\r\n`,
  )
  return Number(String(await answered).slice(9, 12))
}

it('on one connection each client has its own budget, an IPv6 /64 one', async () => {
  await using running = await start({ rateLimit: { unitsPerSecond: 1 } })
  const socket = running.connect()
  expect(await statusFor(socket, ALICE)).toBe(200)
  expect(await statusFor(socket, ALICE)).toBe(429)
  // Nobody rests for it but who was refused.
  expect(await statusFor(socket, BOB)).toBe(200)
  expect(await statusFor(socket, '2001:db8:1:1:2::7')).toBe(429)
  expect(await statusFor(socket, '2001:db8:1:2::7')).toBe(200)
})

it('of whoever is no proxy no header counts', async () => {
  const proxies = { trusted: ['10.0.0.0/8'], header: 'x-forwarded-for' } as const
  await using running = await start({ rateLimit: { unitsPerSecond: 1 }, proxies })
  const [one, other] = [running.connect(), running.connect()]
  expect(await statusFor(one, ALICE)).toBe(200)
  expect(await statusFor(other, BOB)).toBe(429)
})

it('what a client asks too soon after it was refused waits for a second, and nobody else', async () => {
  const clock = createManualClock()
  await using running = await start({ clock, rateLimit: { unitsPerSecond: 1 } })
  const [one, other] = [running.connect(), running.connect()]
  expect(await statusFor(one, ALICE)).toBe(200)
  expect(await statusFor(one, ALICE)).toBe(429)
  let isAnswered = false
  const waiting = statusFor(one, ALICE).then((status) => {
    isAnswered = true
    return status
  })
  expect(await statusFor(other, ALICE, '/livez')).toBe(200)
  expect(await statusFor(other, BOB)).toBe(200)
  await clock.advance(999)
  expect(await statusFor(other, BOB, '/livez')).toBe(200)
  expect(isAnswered).toBe(false)
  await clock.advance(1)
  expect(await waiting).toBe(200)
})

it.each(['/ask?/livez', '/ask?a=/readyz', '/other/livez', '/livez/', 'POST /livez'])(
  'a refused client waits for the answer to %s, which only resembles a probe',
  async (asked) => {
    const clock = createManualClock()
    await using running = await start({ clock, rateLimit: { unitsPerSecond: 1 } })
    const [one, other] = [running.connect(), running.connect()]
    expect(await statusFor(one, ALICE)).toBe(200)
    expect(await statusFor(one, ALICE)).toBe(429)
    let isAnswered = false
    const [method, path] = asked.startsWith('POST ') ? ['POST', asked.slice(5)] : ['GET', asked]
    const waiting = statusFor(one, ALICE, path, method).then(() => {
      isAnswered = true
    })
    for (let count = 0; count < 5; count++) expect(await statusFor(other, BOB, '/livez')).toBe(200)
    expect(isAnswered).toBe(false)
    await clock.advance(1_000)
    await waiting
  },
)

it('a client has as many requests in hand as it could have connections, a proxy any number', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begunCount = 0
  const clock = createManualClock()
  await using running = await start({
    clock,
    limits: { connectionsPerClientMax: 2 },
    handlers: {
      ask: async () => {
        begunCount++
        await finished
        return { body: true }
      },
      livez: async () => ({ body: null }),
    },
  })
  const sockets = Array.from({ length: 6 }, () => running.connect())
  const [a, b, c, d, e, f] = sockets as [Socket, Socket, Socket, Socket, Socket, Socket]
  const inHand = [statusFor(a, ALICE), statusFor(b, ALICE)]
  await untilTrue('both', () => begunCount === 2)
  expect(await statusFor(c, ALICE, '/livez')).toBe(200)
  expect(await statusFor(c, ALICE)).toBe(503)
  const ofBob = [statusFor(d, BOB), statusFor(e, BOB)]
  await untilTrue('both', () => begunCount === 4)
  expect(await statusFor(f, BOB, '/livez')).toBe(200)
  expect(await statusFor(f, BOB)).toBe(503)
  finish()
  expect(await Promise.all([...inHand, ...ofBob])).toEqual([200, 200, 200, 200])
  await clock.advance(1_000)
  expect(await statusFor(c, ALICE)).toBe(200)
})

it('who has no room for another makes some with what waits for longest', async () => {
  await using running = await start({
    rateLimit: { unitsPerSecond: 1 },
    limits: { connectionsPerClientMax: 1 },
  })
  const [one, other] = [running.connect(), running.connect()]
  expect(await statusFor(one, ALICE)).toBe(200)
  expect(await statusFor(one, ALICE)).toBe(429)
  const waiting = statusFor(one, ALICE)
  expect(await statusFor(other, BOB)).toBe(200)
  void statusFor(other, ALICE)
  expect(await waiting).toBe(429)
})

it('the log names the client', async () => {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ name: 'test', level: 'info', stream })
  await using running = await start({ logger, rateLimit: { unitsPerSecond: 1 } })
  const socket = running.connect()
  for (let count = 0; count < 2; count++) await statusFor(socket, ALICE)
  const line = JSON.parse(lines.at(-1) ?? '')
  expect(line).toMatchObject({ code: 'RATE_LIMITED', client: ALICE })
})

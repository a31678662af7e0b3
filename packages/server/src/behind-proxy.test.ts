/** A server behind a reverse proxy: limits apply to each client of the proxy, not to it. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
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

/** A server that trusts a proxy on this machine. */
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
async function statusFor(socket: Socket, client: string, path = '/ask', method = 'GET') {
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
  expect(await statusFor(socket, BOB)).toBe(200)
  expect(await statusFor(socket, '2001:db8:1:1:2::7')).toBe(429)
  expect(await statusFor(socket, '2001:db8:1:2::7')).toBe(200)
})

it('a header counts only from a proxy', async () => {
  const proxies = { trusted: ['10.0.0.0/8'], header: 'x-forwarded-for' } as const
  await using running = await start({ rateLimit: { unitsPerSecond: 1 }, proxies })
  const [one, other] = [running.connect(), running.connect()]
  expect(await statusFor(one, ALICE)).toBe(200)
  expect(await statusFor(other, BOB)).toBe(429)
})

it('the connection of a proxy is read on after a refusal', async () => {
  await using running = await start({ rateLimit: { unitsPerSecond: 1 } })
  const socket = running.connect()
  expect(await statusFor(socket, ALICE)).toBe(200)
  // The clock does not move: a connection that backs off would never be read again.
  for (let count = 0; count < 3; count++) expect(await statusFor(socket, ALICE)).toBe(429)
  expect(await statusFor(socket, BOB)).toBe(200)
})

it.each(['/ask?/livez', '/ask?a=/readyz', '/other/livez', '/livez/', 'POST /livez'])(
  'a client without units is refused %s, which only resembles a probe',
  async (asked) => {
    await using running = await start({ rateLimit: { unitsPerSecond: 1 } })
    const socket = running.connect()
    expect(await statusFor(socket, ALICE)).toBe(200)
    const [method, path] = asked.startsWith('POST ') ? ['POST', asked.slice(5)] : ['GET', asked]
    expect(await statusFor(socket, ALICE, path, method)).toBe(429)
    expect(await statusFor(socket, ALICE, '/livez')).toBe(200)
  },
)

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

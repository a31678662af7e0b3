import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { parseTtl } from '@quorumscan/operator'
import { CommandError, createMetrics } from '@quorumscan/runtime'
import { createRawClient, textUntilClosed, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { drawBasePort } from '../rig/ports.ts'
import { lookupInput } from './calls.ts'
import { startControlServer } from './server.ts'

async function startServer() {
  const port = await drawBasePort(0, { nodeCount: 1, ordering: 'redis' })
  const context = () => {
    throw new CommandError('no cluster in this test')
  }
  const metrics = createMetrics()
  const server = await startControlServer({ port, token: 'secret', context, metrics })
  return { port, context, [Symbol.asyncDispose]: () => server.close() }
}

function statusOf(
  port: number,
  headers: Record<string, string>,
  path = '/trpc/cluster.status',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

it('answers only callers with the token', async () => {
  await using server = await startServer()
  expect(await statusOf(server.port, {})).toBe(401)
  expect(await statusOf(server.port, { authorization: 'Bearer secre' })).toBe(401)
  expect(await statusOf(server.port, { authorization: 'Bearer secret' })).toBe(500)
  expect(await statusOf(server.port, {}, '/metrics')).toBe(401)
  expect(await statusOf(server.port, { authorization: 'Bearer secret' }, '/metrics')).toBe(200)
})

it.for(['/', '/trpc/cluster.status', '/metrics', '/assets/none.js', '/<script>', '/%zz'])(
  'the answer to %s lets a browser load nothing',
  async (path) => {
    await using server = await startServer()
    using client = createRawClient(server.port)
    const socket = await client.open()
    const answer = textUntilClosed(socket)
    const host = `127.0.0.1:${server.port}`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    expect(await answer).toMatch(/^content-security-policy: default-src 'none'/im)
    expect(await answer).toMatch(/^x-content-type-options: nosniff/im)
  },
)

it('closes although a browser holds a connection without a request', async () => {
  const server = await startServer()
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  // Connections are accepted in their order.
  expect(await statusOf(server.port, {})).toBe(401)
  const closed = once(socket, 'close')
  await server[Symbol.asyncDispose]()
  await closed
})

it('answers only for its own host name, so that web pages cannot use another name', async () => {
  await using server = await startServer()
  const headers = { authorization: 'Bearer secret', host: `evil.example:${server.port}` }
  expect(await statusOf(server.port, headers)).toBe(403)
})

it('answers no page of another origin, with the token or without', async () => {
  await using server = await startServer()
  const headers = { authorization: 'Bearer secret' }
  for (const origin of ['http://evil.example', 'null', `https://127.0.0.1:${server.port}`])
    expect(await statusOf(server.port, { ...headers, origin }), origin).toBe(403)
  for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`])
    expect(await statusOf(server.port, { ...headers, host, origin: `http://${host}` }), host).toBe(
      500,
    )
})

/** The result of an upgrade: the first message, or how the socket was closed. */
function subscribe(port: number, options: { token: string; origin?: string; path?: string }) {
  return new Promise<string>((resolve) => {
    const socket = new WebSocket(
      `ws://127.0.0.1:${port}${options.path ?? '/trpc'}?connectionParams=1`,
      options.origin === undefined ? {} : { origin: options.origin },
    )
    socket.on('unexpected-response', (_request, response) => resolve(`${response.statusCode}`))
    socket.on('error', () => {})
    socket.on('open', () => {
      socket.send(JSON.stringify({ method: 'connectionParams', data: { token: options.token } }))
      socket.send(
        JSON.stringify({
          id: 1,
          jsonrpc: '2.0',
          method: 'subscription',
          params: { path: 'cluster.watch' },
        }),
      )
    })
    socket.on('message', (data) => {
      const { error } = JSON.parse(String(data)) as { error?: { message: string } }
      if (error === undefined) return
      socket.terminate()
      resolve(error.message)
    })
    socket.on('close', () => resolve('closed'))
  })
}

it('accepts subscriptions only from its own origin and with the token', async () => {
  await using server = await startServer()
  const token = 'secret'
  expect(await subscribe(server.port, { token })).toBe('no cluster in this test')
  expect(await subscribe(server.port, { token: 'secre' })).toBe('the token is needed')
  expect(await subscribe(server.port, { token, origin: 'http://evil.example' })).toBe('403')
  expect(await subscribe(server.port, { token, path: '/other' })).toBe('404')
})

it('has 64 subscriptions: beyond them a greedy client takes the place of its oldest without the token', async () => {
  await using server = await startServer()
  const sockets: WebSocket[] = []
  let closedCount = 0
  const open = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/trpc?connectionParams=1`)
    sockets.push(socket)
    socket.on('close', () => closedCount++)
    socket.on('error', () => {})
    await once(socket, 'open')
  }
  for (let count = 0; count < 64; count++) await open()
  expect(closedCount).toBe(0)
  await open()
  await untilTrue('the oldest to be closed', () => closedCount === 1)
  expect(sockets.map(({ readyState }) => readyState === WebSocket.OPEN)).toEqual([
    false,
    ...Array(64).fill(true),
  ])
  for (const socket of sockets) socket.terminate()
})

it.each([
  ['alice.unverified.ns', 'strong', true],
  ['💥', '3', true],
  ['\ud800', 'weak', false],
  ['alice', 'wéak', false],
])('accepts only lookups with valid path and header values: %o, %o', (subject, quorum, isTaken) => {
  expect(lookupInput.safeParse({ subject, quorum }).success).toBe(isTaken)
})

it('a second control plane on the same port fails to start', async () => {
  await using server = await startServer()
  const again = startControlServer({ ...server, token: '' })
  await expect(again).rejects.toThrow(`port ${server.port} of the control plane is in use`)
})

it.each([
  ['90s', 90],
  ['15m', 900],
  ['24h', 86_400],
  ['7d', 604_800],
])('reads the lifetime %s as %d seconds', (text, want) => {
  expect(parseTtl(text)).toBe(want)
})

it.each(['', '0s', '-1h', '1', '1w', '1.5h', '367d', 'h'])('refuses the lifetime "%s"', (text) => {
  expect(() => parseTtl(text)).toThrow(CommandError)
})

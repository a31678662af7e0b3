import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { buildServer } from './server.ts'
import { apiSocketDialect } from './sockets/api-sockets.ts'
import { mountSockets } from './sockets/mount.ts'

const open = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  put: {
    ...open,
    operationId: 'put',
    method: 'POST',
    path: '/v0/put',
    body: Type.Object({}),
    response: Type.Object({}),
  },
} as const

/** Connects to a new server. */
const it = base
  .extend('connectToServer', ({ resources }) => async () => {
    const clock = createManualClock()
    const logger = createLogger({ name: 'test', level: 'silent' })
    const handlers = { put: async () => ({ body: {} }) }
    const app = buildServer({ routes, handlers, prefix: null, rateLimit: null, clock, logger })
    const sockets = [{ path: '/v0/stream', request: Type.Object({}), open: neverOpens }] as const
    mountSockets(app, { dialects: [apiSocketDialect({ sockets, prefix: '/api' })], clock })
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    resources.onClose(() => app.close())
    const socket = connect({ host: url.hostname, port: Number(url.port) })
    resources.onClose(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  })
  /** Sends a head with these lines and a body, and returns the status of the first answer. */
  .extend(
    'statusOf',
    ({ connectToServer }) =>
      async (first: string, lines: readonly string[], body = '') => {
        const socket = await connectToServer()
        socket.write([first, ...lines, 'connection: close', '', body].join('\r\n'))
        const [bytes] = first.includes('stream') ? await once(socket, 'data') : [await text(socket)]
        return Number(String(bytes).slice(9, 12))
      },
  )
const neverOpens = () => Promise.reject(new Error('no frame is sent'))

const POST = 'POST /v0/put HTTP/1.1'
const LENGTH = 'content-length: 2'

describe('the host of a request', () => {
  it.for(['a', 'a:80', 'a.b-c_d', '127.0.0.1:4600', '[::1]', '[::1]:80', 'xn--80ak6aa92e', ''])(
    '%j is one',
    async (host, { statusOf }) => {
      expect(await statusOf(POST, [`host: ${host}`, LENGTH], '{}')).toBe(200)
    },
  )

  it.for(['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a\\b', 'a:b', '[::1', '::1', 'a, b', 'é'])(
    '%j is none',
    async (host, { statusOf }) => {
      expect(await statusOf(POST, [`host: ${host}`, LENGTH], '{}')).toBe(400)
    },
  )

  it.for(['b', 'a'])('may not be there twice: a and %s', async (other, { statusOf }) => {
    expect(await statusOf(POST, ['host: a', `Host: ${other}`, LENGTH], '{}')).toBe(400)
  })
})

describe('the coding of a body', () => {
  it.for([
    ['chunked', 200],
    ['Chunked', 200],
    ['gzip, chunked', 400],
    ['identity, chunked', 400],
  ] as const)('%s: %d', async ([coding, status], { statusOf }) => {
    const lines = ['host: a', `transfer-encoding: ${coding}`]
    expect(await statusOf(POST, lines, '2\r\n{}\r\n0\r\n\r\n')).toBe(status)
  })
})

describe('after an ambiguous head nothing more is read', () => {
  const next = [POST, 'host: a', LENGTH, 'connection: close', '', '{}']
  const statuses = (answers: string) =>
    [...answers.matchAll(/HTTP\/1\.1 ([0-9]+)/g)].map(([, status]) => status)

  it.for([
    [POST, ['host: a', 'host: b', LENGTH], '{}'],
    [POST, ['host: a', 'transfer-encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    ['OPTIONS /v0/put HTTP/1.1', ['host: a', 'host: b'], ''],
    ['OPTIONS /v0/put HTTP/1.1', ['host: a/b'], ''],
  ] as const)('%s %j', async ([first, lines, body], { connectToServer }) => {
    const socket = await connectToServer()
    socket.write(`${[first, ...lines, '', body].join('\r\n')}${next.join('\r\n')}`)
    const answers = await text(socket)
    expect(statuses(answers)).toEqual(['400'])
    expect(answers).toMatch(/^connection: close\r$/im)
  })

  it('a clear one leaves the connection open', async ({ connectToServer }) => {
    const socket = await connectToServer()
    const head = ['OPTIONS /v0/put HTTP/1.1', 'host: a', '', '']
    socket.write(`${head.join('\r\n')}${next.join('\r\n')}`)
    expect(statuses(await text(socket))).toEqual(['204', '200'])
  })
})

it('a handshake has one host', async ({ statusOf }) => {
  const handshake = [
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const first = 'GET /v0/stream HTTP/1.1'
  expect(await statusOf(first, ['host: a', ...handshake])).toBe(101)
  expect(await statusOf(first, ['host: a', 'host: b', ...handshake])).toBe(400)
  expect(await statusOf(first, handshake)).toBe(400)
})

/**
 * Messages of HTTP and frames of WebSockets that clients may or must not send, at the server of `packages/server`, which all
 * processes have. RFC 9110, 9112 and 6455 have no suite in a registry that expects no echo: these are made from them.
 *
 * @module-tag long
 * @module-tag suites-http
 */
import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { createLogger } from '@quorumscan/runtime'
import { apiSocketDialect, buildServer, mountSockets } from '@quorumscan/server'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { describe } from 'vitest'
import { readAnswers } from './http-answers.ts'
import { httpCases, lastRequest } from './http-cases.ts'
import { closeOf, readFrames, socketCases } from './socket-cases.ts'
import { expectAll } from './tally.ts'

const SILENCE_MS = 20_000
const AT_ONCE = 4
const PATHS = { getPath: '/livez', postPath: '/v0/items' } as const
const STREAM = '/v0/stream'

const open = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 0 } as const
const routes = {
  put: {
    ...open,
    operationId: 'put',
    method: 'POST',
    path: PATHS.postPath,
    body: Type.Object({}),
    response: Type.Object({}),
  },
  livez: { ...open, operationId: 'livez', method: 'GET', path: PATHS.getPath, response: null },
} as const
const handlers = { put: async () => ({ body: {} }), livez: async () => ({ body: null }) }

const it = base.extend('url', async ({ resources }) => {
  const clock = createSystemClock()
  const logger = createLogger({ name: 'test', level: 'silent' })
  const app = buildServer({ routes, handlers, prefix: null, rateLimit: null, clock, logger })
  /** One element, after which the stream stays open. */
  async function* elements(signal: AbortSignal) {
    yield ['{"first":1}']
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const stream = {
    path: STREAM,
    request: Type.Object({}),
    open: async ({ signal }: { readonly signal: AbortSignal }) => elements(signal),
  } as const
  const dialect = apiSocketDialect({ sockets: [stream], prefix: '/api/test' })
  mountSockets(app, { dialects: [dialect], clock })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  resources.onClose(() => app.close())
  return url
})

/**
 * What the server sends until it closes the connection; null: it does not, although nothing is outstanding.
 *
 * @param next - What to send once, after some of its bytes; null: not yet.
 */
function exchange(
  url: string,
  parts: readonly (string | Uint8Array)[],
  next: (received: Buffer) => Buffer | null = () => null,
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let isNextSent = false
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), timeout: SILENCE_MS })
    const received: Buffer[] = []
    socket.on('data', (bytes) => {
      received.push(bytes)
      const more = isNextSent ? null : next(Buffer.concat(received))
      if (more === null) return
      isNextSent = true
      socket.write(more)
    })
    socket.on('error', () => {}) // 'close' follows.
    socket.on('timeout', () => {
      resolve(null)
      socket.destroy()
    })
    socket.on('close', () => resolve(Buffer.concat(received)))
    for (const part of parts)
      socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  })
}

async function mapAll<One, Result>(all: readonly One[], map: (one: One) => Promise<Result>) {
  const results: Result[] = []
  const waiting = all.entries()
  const next = async () => {
    for (const [index, one] of waiting) results[index] = await map(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return results
}

it('RFC 9110 and 9112', async ({ url }) => {
  const rows = await mapAll(httpCases(PATHS), async ({ name, bytes, expected, isLast = false }) => {
    const received = await exchange(url, [isLast ? bytes : bytes + lastRequest(PATHS)])
    return {
      name,
      expected: String(expected),
      actual: verdict(received, expected, name === 'HEAD'),
    }
  })
  expectAll('RFC 9110 and 9112', rows)
})

function verdict(received: Buffer | null, expected: RegExp, isHead: boolean): string {
  if (received === null) return 'the connection stays open'
  try {
    const answers = readAnswers(received.toString('latin1'), (index) => isHead && index === 0)
    const statuses = answers.map(({ status }) => status).join(' ')
    const unnamed = answers.find(({ status, fields }) => status === 405 && !fields.has('allow'))
    if (unnamed !== undefined) return '405 without allow'
    return expected.test(statuses) ? String(expected) : statuses
  } catch (error) {
    return String(error)
  }
}

/** The request that opens a WebSocket, and the hash that must answer it (RFC 6455 §4.2.2). */
function handshake() {
  const key = randomBytes(16).toString('base64')
  const lines = [
    `GET ${STREAM} HTTP/1.1`,
    'host: a',
    'upgrade: websocket',
    'connection: Upgrade',
    'sec-websocket-version: 13',
    `sec-websocket-key: ${key}`,
    '',
  ]
  const hash = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  return { head: lines.map((line) => `${line}\r\n`).join(''), accept: hash.digest('base64') }
}

/** A client closes once it has its answer. */
function closeAfterText(received: Buffer): Buffer | null {
  try {
    const frames = readFrames(received.subarray(received.indexOf('\r\n\r\n') + 4))
    return frames.includes('text') ? closeOf(1000) : null
  } catch {
    return null // The rest of a frame has not arrived.
  }
}

function socketVerdict(received: Buffer | null, accept: string): string {
  if (received === null) return 'the connection stays open'
  const end = received.indexOf('\r\n\r\n')
  const head = received.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 101 ')) return head.slice(9, 12)
  if (!head.toLowerCase().includes(`sec-websocket-accept: ${accept.toLowerCase()}`))
    return 'another accept'
  if (/sec-websocket-extensions/i.test(head)) return 'an extension that was not offered'
  try {
    return readFrames(received.subarray(end + 4)).join(' ')
  } catch (error) {
    return String(error)
  }
}

describe('RFC 6455', () => {
  it('frames', async ({ url }) => {
    const cases = socketCases(JSON.stringify({ text: 'déjà vu' }))
    const rows = await mapAll(cases, async ({ name, frames, expected }) => {
      const { head, accept } = handshake()
      const actual = socketVerdict(await exchange(url, [head, ...frames], closeAfterText), accept)
      return {
        name,
        expected: String(expected),
        actual: expected.test(actual) ? String(expected) : actual,
      }
    })
    expectAll('RFC 6455, frames', rows)
  })

  it('handshakes', async ({ url }) => {
    const { head } = handshake()
    const without = (name: string) => head.replace(new RegExp(`${name}: .*\r\n`, 'i'), '')
    const as = (name: string, value: string) =>
      head.replace(new RegExp(`${name}: .*\r\n`, 'i'), `${name}: ${value}\r\n`)
    const done = closeOf(1000)
    const refused = /^(4\d\d)$/
    const cases: readonly (readonly [name: string, head: string, expected: RegExp])[] = [
      ['as usual', head, /^101$/],
      ['an option among others', as('connection', 'keep-alive, Upgrade'), /^101$/],
      ['in capitals', as('upgrade', 'WebSocket'), /^101$/],
      [
        'an offer of compression',
        as('upgrade', 'websocket\r\nsec-websocket-extensions: permessage-deflate'),
        /^101$/,
      ],
      ['no key', without('sec-websocket-key'), refused],
      ['an empty key', as('sec-websocket-key', ''), refused],
      ['a key of 15 bytes', as('sec-websocket-key', Buffer.alloc(15).toString('base64')), refused],
      ['a key of 17 bytes', as('sec-websocket-key', Buffer.alloc(17).toString('base64')), refused],
      ['a key that is no base64', as('sec-websocket-key', '!'.repeat(24)), refused],
      ['no version', without('sec-websocket-version'), refused],
      ['version 8', as('sec-websocket-version', '8'), refused],
      ['version 14', as('sec-websocket-version', '14'), refused],
      ['version 013', as('sec-websocket-version', '013'), refused],
      ['no upgrade', without('upgrade'), refused],
      ['another upgrade', as('upgrade', 'websocketx'), refused],
      ['no option', without('connection'), refused],
      ['another option', as('connection', 'keep-alive'), refused],
      ['POST', head.replace('GET', 'POST'), refused],
      ['HTTP/1.0', head.replace('HTTP/1.1', 'HTTP/1.0'), refused],
      ['no host', without('host'), refused],
    ]
    const rows = await mapAll(cases, async ([name, bytes, expected]) => {
      // After a refusal the connection may serve another request; after an upgrade it has frames.
      const next = expected === refused ? lastRequest(PATHS) : done
      const received = await exchange(url, [bytes, next])
      const status =
        received === null ? 'the connection stays open' : received.toString('latin1', 9, 12)
      return {
        name,
        expected: String(expected),
        actual: expected.test(status) ? String(expected) : status,
      }
    })
    expectAll('RFC 6455, handshakes', rows, [
      {
        reason:
          'ws takes version 8, too, whose frames are the same, and reads the version as a number',
        covers: ({ name }) => ['version 8', 'version 013'].includes(name),
      },
    ])
  })
})

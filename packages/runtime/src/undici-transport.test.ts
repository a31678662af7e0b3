import type { RequestListener } from 'node:http'
import { PrivateAddressError, type TransportRequest } from '@quorumscan/reader'
import { listen, serve } from '@quorumscan/testkit'
import { afterEach, expect, it } from 'vitest'
import { createUndiciTransport } from './undici-transport.ts'

const disposables: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of disposables.splice(0).reverse()) await one[Symbol.asyncDispose]()
})

async function start(listener: RequestListener) {
  const server = await serve(listener)
  disposables.push(server)
  return server
}

function transport() {
  const created = createUndiciTransport()
  disposables.push(created)
  return created
}

const request = (changes: Partial<TransportRequest> & { url: string }): TransportRequest => ({
  method: 'GET',
  path: '/v0/x?y=1',
  headers: {},
  body: null,
  bytesMax: 1000,
  channel: 'lookup',
  isPublicOnly: false,
  signal: new AbortController().signal,
  ...changes,
})

it('sends method, path below the base, headers and body; gives status, headers and bytes', async () => {
  const { url } = await start((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk) => chunks.push(chunk))
    incoming.on('end', () => {
      response.statusCode = 418
      response.setHeader('X-Ledger-Head', '7')
      response.end(
        `${incoming.method} ${incoming.url} ${incoming.headers['x-a']} ${Buffer.concat(chunks)}`,
      )
    })
  })
  const reply = await transport().request(
    request({
      url: `${url}/api/scan`,
      method: 'POST',
      headers: { 'x-a': 'b' },
      body: new TextEncoder().encode('hello'),
    }),
  )
  expect(reply).toAnswer(418)
  expect([
    reply.header('x-ledger-head'),
    reply.header('nothing'),
    reply.header('__proto__'),
  ]).toEqual(['7', null, null])
  expect(Buffer.from(reply.body).toString()).toBe('POST /api/scan/v0/x?y=1 b hello')
})

it('a peer token goes to its own origin only, and a renewed one from the next request on', async () => {
  const echo: RequestListener = (incoming, response) =>
    response.end(String(incoming.headers['x-peer-token']))
  const [mine, other] = [await start(echo), await start(echo)]
  const peerTokenByOrigin = new Map([[mine.url, 'secret']])
  const created = createUndiciTransport({ peerTokenByOrigin })
  disposables.push(created)
  for (const [url, seen] of [
    [mine.url, 'secret'],
    [other.url, 'undefined'],
  ] as const) {
    const { body } = await created.request(request({ url }))
    expect(Buffer.from(body).toString()).toBe(seen)
  }
  peerTokenByOrigin.set(mine.url, 'renewed')
  const { body } = await created.request(request({ url: mine.url }))
  expect(Buffer.from(body).toString()).toBe('renewed')
})

it('a redirect is an answer, not followed', async () => {
  let asked = 0
  const { url } = await start((_, response) => {
    asked++
    response.writeHead(302, { location: '/elsewhere', 'content-length': 0 }).end()
  })
  expect(await transport().request(request({ url }))).toAnswer(302)
  expect(asked).toBe(1)
})

/** A server that sends these pieces unchanged, with a short pause before each. */
async function serveRaw(pieces: Iterable<string>) {
  const server = await listen((socket) => {
    socket.setNoDelay(true)
    socket.once('data', async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return
        await new Promise<unknown>((resolve) => socket.write(piece, resolve))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  })
  disposables.push(server)
  return `http://127.0.0.1:${server.port}`
}

const endless = (first: string, more: string) =>
  (function* () {
    yield first
    for (;;) yield more
  })()
const head = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`

it.each([
  ['too large, announced', () => [head('content-length: 1001')], 'at most 1000 bytes'],
  ['of no length', () => endless(head('connection: close'), 'x'), 'at most 1000 bytes'],
  ['in chunks', () => endless(head('transfer-encoding: chunked'), '1\r\nx\r\n'), 'at most 1000'],
  [
    'in a chunk whose extension has no end',
    () => endless(`${head('transfer-encoding: chunked')}1;`, 'x'.repeat(65_536)),
    'at most 1000',
  ],
  [
    'that is interim, again and again',
    () => endless('HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    'at most 1000',
  ],
  ['in too many pieces', () => endless(head('content-length: 1000'), 'x'), 'too small'],
])('an answer %s is given up on', async (_, pieces, why) => {
  const url = await serveRaw(pieces())
  await expect(transport().request(request({ url }))).rejects.toThrow(why)
})

it('an answer of exactly the largest size is accepted', async () => {
  const { url } = await start((_, response) => void response.end('x'.repeat(1000)))
  expect((await transport().request(request({ url }))).body.byteLength).toBe(1000)
})

it('stops reading an answer that is no longer needed, unless it is short', async () => {
  const [longBytes, shortBytes] = [8 * 1024 * 1024, 32 * 1024]
  let bytesWanted = longBytes
  const { url } = await start((incoming, response) => {
    const length = incoming.url === '/long' ? longBytes : shortBytes
    response.writeHead(200, { 'content-length': length })
    response.write('[', () => {
      bytesWanted = 2 // The read was decided meanwhile.
      response.end(Buffer.alloc(length - 1, ' '))
    })
  })
  const ask = (path: string) => {
    bytesWanted = longBytes
    return transport().request(
      request({ url, path, bytesMax: longBytes, bytesWanted: () => bytesWanted }),
    )
  }
  await expect(ask('/long')).rejects.toThrow('a read that is decided')
  expect((await ask('/short')).body).toHaveLength(shortBytes)
})

it('rejects with the reason when the signal aborts: before, while waiting, while reading', async () => {
  const { url } = await start((incoming, response) => {
    if (incoming.url === '/read') response.write('x')
  })
  const used = transport()
  for (const path of ['/wait', '/read']) {
    const controller = new AbortController()
    const reply = used.request(request({ url, path, signal: controller.signal }))
    setImmediate(() => controller.abort(new Error('enough')))
    await expect(reply).rejects.toThrow('enough')
  }
  const aborted = AbortSignal.abort(new Error('already'))
  await expect(used.request(request({ url, signal: aborted }))).rejects.toThrow('already')
})

it.each([
  ['no listener', 'http://127.0.0.1:1'],
  ['no URL', 'nonsense'],
  ['another protocol', 'ftp://127.0.0.1'],
])('rejects where %s', async (_, url) => {
  await expect(transport().request(request({ url }))).rejects.toThrow()
})

it('a name that resolves to this machine is refused where only public addresses are taken', async () => {
  let asked = 0
  const { url } = await start((_, response) => {
    asked++
    response.end('x')
  })
  const named = url.replace('127.0.0.1', 'localhost')
  const used = transport()
  await expect(used.request(request({ url: named, isPublicOnly: true }))).rejects.toThrow(
    PrivateAddressError,
  )
  expect(asked).toBe(0)
  expect(await used.request(request({ url: named }))).toAnswer(200)
  // Connections that may lead to this machine are not shared with requests that may not.
  await expect(used.request(request({ url: named, isPublicOnly: true }))).rejects.toThrow('private')
})

it('rejects when the node hangs up in the middle of an answer', async () => {
  const { url } = await start((_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('x', () => response.destroy())
  })
  await expect(transport().request(request({ url }))).rejects.toThrow()
})

it('reuses connections, and has another one for bulk requests', async () => {
  const node = await start((_, response) => void response.end('x'))
  const used = transport()
  for (let count = 0; count < 40; count++) await used.request(request({ url: node.url }))
  const ofLookups = node.connectionCount()
  // undici opens a second one when asked in the very moment in which an answer ends.
  expect(ofLookups).toBeLessThanOrEqual(2)
  await used.request(request({ url: node.url, channel: 'bulk' }))
  expect(node.connectionCount()).toBe(ofLookups + 1)
})

it('refuses requests beyond the bound of waiting ones', async () => {
  const { url } = await start(() => {}) // Never answers.
  const used = transport()
  const controller = new AbortController()
  const ask = () => used.request(request({ url, channel: 'bulk', signal: controller.signal }))
  const hanging = Array.from({ length: 4 + 1024 }, () => ask().catch(() => null))
  await expect(ask()).rejects.toThrow('too many requests wait')
  controller.abort()
  await Promise.all(hanging)
})

it('bulk requests that hang delay no lookup', async () => {
  const { url } = await start((incoming, response) => {
    if (incoming.url === '/fast') response.end('x')
  })
  const used = transport()
  const controller = new AbortController()
  const hanging = Array.from({ length: 50 }, () =>
    used.request(request({ url, channel: 'bulk', signal: controller.signal })).catch(() => null),
  )
  expect(await used.request(request({ url, path: '/fast' }))).toAnswer(200)
  controller.abort()
  await Promise.all(hanging)
})

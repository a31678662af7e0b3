import type { RequestListener } from 'node:http'
import { createManualClock, serve } from '@quorumscan/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { createPeerClient } from './peer-client.ts'

const closing: (() => PromiseLike<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A peer on loopback, and a client whose clock the test moves. */
async function setUp(listener: RequestListener, options: { hasToken?: boolean } = {}) {
  const server = await serve(listener)
  closing.push(() => server[Symbol.asyncDispose]())
  const { url } = server
  const clock = createManualClock(0)
  const client = createPeerClient({
    clock,
    ...(options.hasToken === true && { peerTokenByOrigin: new Map([[url, 'secret']]) }),
  })
  closing.push(() => client[Symbol.asyncDispose]())
  return { url, clock, client }
}

/** Answers with what it was sent. */
const echo: RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { 'content-type': type = '', 'x-peer-token': token = '' } = request.headers
  response.end(`${request.method} ${request.url} ${type} ${token} ${Buffer.concat(chunks)}`)
}

describe('PeerClient', () => {
  it('gets, posts bytes, and sends a token to the peer that it belongs to', async () => {
    const { url, client } = await setUp(echo, { hasToken: true })
    const rows: [Uint8Array | undefined, string][] = [
      [undefined, 'GET /a/v0/x?y=1  secret '],
      [Buffer.from('bytes'), 'POST /a/v0/x?y=1 application/octet-stream secret bytes'],
    ]
    for (const [body, sent] of rows) {
      const answer = await client.read(`${url}/a`, {
        path: '/v0/x?y=1',
        bytesMax: 1000,
        timeoutMs: 1000,
        ...(body && { body }),
      })
      expect(Buffer.from(answer).toString()).toBe(sent)
    }
  })

  it('`read` rejects another status; `request` returns it', async () => {
    const { url, client } = await setUp((_, response) => {
      response.writeHead(503, { 'retry-after': '7', 'content-length': '2' }).end('{}')
    })
    const request = { path: '/readyz', bytesMax: 100 }
    await expect(client.read(url, request)).rejects.toThrow('status 503')
    const reply = await client.request(url, request)
    expect([reply.status, reply.header('retry-after')]).toEqual([503, '7'])
  })

  it('rejects an answer that is late, too long, or aborted by its caller', async () => {
    const silent = await setUp(() => {})
    const late = silent.client.read(silent.url, { path: '/', bytesMax: 9, timeoutMs: 300 })
    const isLate = expect(late).rejects.toThrow('no answer within 300 ms')
    await silent.clock.advance(300)
    await isLate

    const over = new AbortController()
    const { signal } = over
    const unwanted = silent.client.read(silent.url, { path: '/', bytesMax: 9, signal })
    const isUnwanted = expect(unwanted).rejects.toThrow('not wanted')
    over.abort(new Error('not wanted'))
    await isUnwanted

    const long = await setUp((_, response) => response.end('0123456789'))
    await expect(long.client.read(long.url, { path: '/', bytesMax: 9 })).rejects.toThrow()
    expect(await long.client.read(long.url, { path: '/', bytesMax: 10 })).toHaveLength(10)
  })
})

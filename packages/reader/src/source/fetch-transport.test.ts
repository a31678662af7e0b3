import { setImmediate as turn } from 'node:timers/promises'
import { utf8 } from '@quorumscan/verifier'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFetchTransport } from './fetch-transport.ts'
import type { TransportRequest } from './transport.ts'

const URL_OF_NODE = 'https://sv-1.example.com/scan'

function request(more: Partial<TransportRequest> = {}): TransportRequest {
  return {
    url: URL_OF_NODE,
    method: 'GET',
    path: '/v0/scans?a=1',
    headers: {},
    body: null,
    bytesMax: 1000,
    channel: 'lookup',
    isPublicOnly: false,
    signal: new AbortController().signal,
    ...more,
  }
}

beforeAll(() => nock.disableNetConnect())
afterEach(() => nock.cleanAll())
// Other files run in this process afterwards, with the network that they have.
afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})

describe('the fetch transport', () => {
  it('returns status, headers and the exact bytes', async () => {
    nock('https://sv-1.example.com')
      .get('/scan/v0/scans?a=1')
      .reply(503, 'grün', { 'X-Ledger-Head': '7' })
    const reply = await createFetchTransport().request(request())
    expect(reply).toAnswer(503)
    expect(reply.header('x-ledger-head')).toBe('7')
    expect(reply.header('x-other')).toBeNull()
    expect(reply.body).toEqual(utf8('grün'))
  })

  it('sends body and headers as they are, and no preflight for text', async () => {
    let sent: unknown
    nock('https://sv-1.example.com', { reqheaders: { 'content-type': 'text/plain' } })
      .post('/scan/v0/ans-entries/batch', (body) => {
        sent = body
        return true
      })
      .reply(200, '{}')
    await createFetchTransport().request(
      request({
        method: 'POST',
        path: '/v0/ans-entries/batch',
        headers: { 'content-type': 'text/plain' },
        body: utf8('{"lookups":[]}'),
      }),
    )
    expect(sent).toEqual({ lookups: [] })
  })

  it('follows no redirect', async () => {
    const elsewhere = nock('https://evil.example.com').get('/').reply(200, '{}')
    nock('https://sv-1.example.com')
      .get('/scan/v0/scans?a=1')
      .reply(302, '', { location: 'https://evil.example.com/' })
    await expect(createFetchTransport().request(request())).rejects.toThrow()
    expect(elsewhere.isDone()).toBe(false)
  })

  it('aborts an answer that is too large', async () => {
    nock('https://sv-1.example.com').get('/scan/v0/scans?a=1').reply(200, 'x'.repeat(1001))
    await expect(createFetchTransport().request(request())).rejects.toThrow(RangeError)
    nock('https://sv-1.example.com').get('/scan/v0/scans?a=1').reply(200, 'x'.repeat(1000))
    expect((await createFetchTransport().request(request())).body.byteLength).toBe(1000)
  })

  it('aborts while the answer is still arriving', async () => {
    let sentCount = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sentCount++
        controller.enqueue(new Uint8Array(100))
      },
    })
    const transport = createFetchTransport({ fetch: async () => new Response(endless) })
    await expect(transport.request(request())).rejects.toThrow(RangeError)
    expect(sentCount).toBeLessThan(15)
  })

  it('aborts an answer in pieces of one byte, but not one in small packets', async () => {
    const inPieces = (piece: number) => {
      let left = 100_000
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left > 0) controller.enqueue(new Uint8Array(piece))
          else controller.close()
          left -= piece
        },
      })
      const transport = createFetchTransport({ fetch: async () => new Response(body) })
      return transport.request(request({ bytesMax: 101_000 }))
    }
    await expect(inPieces(1)).rejects.toThrow('too small')
    expect((await inPieces(500)).body.byteLength).toBe(100_000)
  })

  it('rejects when the node cannot be reached, and when the signal aborts', async () => {
    nock('https://sv-1.example.com').get('/scan/v0/scans?a=1').replyWithError('refused')
    await expect(createFetchTransport().request(request())).rejects.toThrow()
    nock('https://sv-1.example.com').get('/scan/v0/scans?a=1').delay(60_000).reply(200, '{}')
    const abort = new AbortController()
    const reply = createFetchTransport().request(request({ signal: abort.signal }))
    abort.abort(new Error('no longer needed'))
    await expect(reply).rejects.toThrow()
  })

  it('stops waiting for a body when the signal aborts, even if `fetch` does not', async () => {
    const abort = new AbortController()
    let canceledBy: unknown
    // Asked for its first piece, it has none, and the caller leaves.
    const body = new ReadableStream<Uint8Array>(
      {
        pull: () => abort.abort(new Error('no longer needed')),
        cancel: (reason) => {
          canceledBy = reason
        },
      },
      { highWaterMark: 0 },
    )
    const transport = createFetchTransport({ fetch: async () => new Response(body) })
    const failure = transport.request(request({ signal: abort.signal })).catch((error) => error)
    await turn()
    expect(canceledBy).toBe(abort.signal.reason)
    expect(await failure).toBe(abort.signal.reason)
  })

  it('reads an answer without a body', async () => {
    nock('https://sv-1.example.com').get('/scan/v0/scans?a=1').reply(204)
    expect((await createFetchTransport().request(request())).body.byteLength).toBe(0)
  })
})

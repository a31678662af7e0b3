import { describe, expect, it } from 'vitest'
import { createLedgerClient, createScanClient, createValidatorClient } from './raw.ts'

/** A server that gives each request the same answer, and keeps the requests. */
function observed(answer: () => Response = () => Response.json({})) {
  const requests: Request[] = []
  const fetch = async (request: Request) => {
    requests.push(request)
    return answer()
  }
  return { requests, fetch }
}

const refusal = {
  error: 'no',
  code: 'NAME_TAKEN',
  definite: true,
  retryable: false,
  request_id: 'r',
  details: null,
}

describe('requests', () => {
  it('go to the mount point, with parameters encoded and the token', async () => {
    const server = observed()
    const client = createValidatorClient({
      baseUrl: 'http://host/api/validator/',
      token: 'abc',
      fetch: server.fetch,
    })
    await client.GET('/v0/scan-proxy/ans-entries/by-party/{party}/all', {
      params: {
        path: { party: 'a::b/c' },
        query: { page_size: 10, quorum: 'strong' },
        header: { 'x-min-offset': 7 },
      },
    })
    const [request] = server.requests
    expect(request?.url).toBe(
      'http://host/api/validator/v0/scan-proxy/ans-entries/by-party/a%3A%3Ab%2Fc/all?page_size=10&quorum=strong',
    )
    expect(request?.headers.get('authorization')).toBe('Bearer abc')
    expect(request?.headers.get('x-min-offset')).toBe('7')
  })

  it('without a body have no content type, with one it is JSON', async () => {
    const server = observed()
    const client = createScanClient({ baseUrl: 'http://host', fetch: server.fetch })
    await client.GET('/v0/dso-party-id')
    await client.POST('/v0/ans-rules', { body: {} })
    expect(server.requests.map((request) => request.headers.get('content-type'))).toEqual([
      null,
      'application/json',
    ])
    expect(server.requests[0]?.headers.get('authorization')).toBeNull()
  })

  it('call a token function for each request', async () => {
    const server = observed()
    let count = 0
    const client = createValidatorClient({
      baseUrl: 'http://host',
      token: async () => `t${++count}`,
      fetch: server.fetch,
    })
    await client.GET('/v0/wallet/balance')
    await client.GET('/v0/wallet/balance')
    expect(server.requests.map((request) => request.headers.get('authorization'))).toEqual([
      'Bearer t1',
      'Bearer t2',
    ])
  })
})

describe('answers', () => {
  const ask = (answer: () => Response) =>
    createScanClient({ baseUrl: 'http://host', fetch: observed(answer).fetch }).GET(
      '/v0/dso-party-id',
    )

  it('with status 2xx have data and no error', async () => {
    const { data, error } = await ask(() => Response.json({ dso_party_id: 'DSO::1' }))
    expect([data, error]).toEqual([{ dso_party_id: 'DSO::1' }, undefined])
  })

  it('with status 2xx and no body have neither data nor error', async () => {
    const reply = await ask(
      () => new Response(null, { status: 200, headers: { 'content-length': '0' } }),
    )
    expect([reply.data, reply.error]).toEqual([undefined, undefined])
  })

  it('with a refusal have the error body', async () => {
    const { data, error, response } = await ask(() => Response.json(refusal, { status: 409 }))
    expect([data, error, response.status]).toEqual([undefined, refusal, 409])
  })

  it.each([
    ['nothing', () => new Response(null, { status: 502, headers: { 'content-length': '0' } })],
    ['an empty text', () => new Response('', { status: 502 })],
    ['a page', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
    ['other JSON', () => Response.json({ message: 'Bad Gateway' }, { status: 502 })],
    ['null', () => Response.json(null, { status: 502 })],
  ])('with a refusal and %s still have an error', async (_, answer) => {
    const { data, error, response } = await ask(answer)
    expect(data).toBeUndefined()
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', definite: false, retryable: true })
    await expect(response).toAnswer(502)
  })

  it('that never arrive reject', async () => {
    const gone = ask(() => {
      throw new TypeError('fetch failed')
    })
    await expect(gone).rejects.toThrow('fetch failed')
  })
})

describe('the ledger interface', () => {
  const ask = (answer: () => Response) =>
    createLedgerClient({ baseUrl: 'http://host', token: 't', fetch: observed(answer).fetch })
  const cantonError = {
    code: 'OFFSET_OUT_OF_RANGE',
    cause: 'no',
    correlationId: null,
    traceId: null,
    context: {},
    resources: [],
    errorCategory: 9,
    grpcCodeValue: 9,
    retryInfo: null,
    definiteAnswer: null,
  }

  it('returns data, typed by its own document', async () => {
    const { data } = await ask(() => Response.json({ offset: 7 })).GET('/v2/state/ledger-end')
    expect(data?.offset).toBe(7)
  })

  it('returns errors in the form of the ledger interface', async () => {
    const client = ask(() => Response.json(cantonError, { status: 400 }))
    const { error } = await client.GET('/v2/state/ledger-end')
    expect(error).toEqual(cantonError)
  })

  it('returns a refusal that is plain text as a string', async () => {
    const client = ask(
      () =>
        new Response('Invalid value', { status: 400, headers: { 'content-type': 'text/plain' } }),
    )
    const { error } = await client.GET('/v2/state/ledger-end')
    expect(error).toBe('Invalid value')
  })

  it('returns an error in its form for an empty body', async () => {
    const client = ask(() => new Response('', { status: 502 }))
    const { error } = await client.GET('/v2/state/ledger-end')
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', retryInfo: '1 second' })
  })
})

describe('an answer without an end', () => {
  const endless = (status = 200) => {
    const piece = new Uint8Array(2 ** 20).fill(0x20)
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(piece) })
    return new Response(body, { status })
  }

  it.each([200, 502])('is read up to the limit of its route, with status %i', async (status) => {
    const server = observed(() => endless(status))
    const scan = createScanClient({ baseUrl: 'http://host', fetch: server.fetch })
    await expect(scan.GET('/v0/dso')).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      message: expect.stringContaining('GET /v0/dso was answered with a body of more than 4194304'),
    })
    await expect(scan.GET('/v0/ans-entries', { params: {} as never })).rejects.toMatchObject({
      message: expect.stringContaining('more than 33554432'),
    })
    expect(server.requests).toHaveLength(2)
  })

  it('is left to a caller who reads the stream', async () => {
    const scan = createScanClient({ baseUrl: 'http://host', fetch: async () => endless() })
    const { data } = await scan.GET('/v0/dso', { parseAs: 'stream' })
    expect((await data?.getReader().read())?.value?.byteLength).toBe(2 ** 20)
  })
})

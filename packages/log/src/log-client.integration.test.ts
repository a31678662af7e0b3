import { readFile } from 'node:fs/promises'
import { synchronizerRoutes } from '@quorumscan/api'
import { openClientTls, utf8 } from '@quorumscan/base'
import { type ErrorCode, ScanError } from '@quorumscan/errors'
import type { Handlers } from '@quorumscan/server'
import { buildServer } from '@quorumscan/server'
import { createAuthority, serve, untilTrue } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createLogClient } from './log-client.ts'

async function start(submitEntry: (bytes: Uint8Array) => void | Promise<void>) {
  const unused = async () => expect.fail('not called')
  const handlers: Handlers<typeof synchronizerRoutes> = {
    livez: unused,
    readyz: unused,
    getStatus: unused,
    getVersion: unused,
    followLog: unused,
    listOrderingEvidence: unused,
    readEngine: unused,
    submitEntry: async ({ body }) => {
      await submitEntry(body)
      return { body: { accepted: true } }
    },
  }
  const server = buildServer({
    routes: synchronizerRoutes,
    handlers,
    prefix: null,
    rateLimit: null,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const client = createLogClient({ url })
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await server.close()
    },
  }
}

const signal = new AbortController().signal

it('the bytes arrive as they are', async () => {
  const received: Uint8Array[] = []
  await using running = await start((bytes) => void received.push(bytes))
  const entry = Uint8Array.of(1, 0, 255, 2).subarray(1, 3)
  await running.client.submit(entry, signal)
  expect(received).toEqual([Uint8Array.of(0, 255)])
})

it('many submissions can wait for one block', async () => {
  const count = 64
  let waitingCount = 0
  let decide = () => {}
  const decided = new Promise<void>((resolve) => {
    decide = resolve
  })
  await using running = await start(async () => {
    if (++waitingCount === count) decide()
    await decided
  })
  const entries = Array.from({ length: count }, (_, index) => Uint8Array.of(index))
  await Promise.all(entries.map((entry) => running.client.submit(entry, signal)))
  expect(waitingCount).toBe(count)
})

it.each([
  ['RATE_LIMITED', 'RATE_LIMITED', true],
  ['BODY_TOO_LARGE', 'BODY_TOO_LARGE', true],
  ['INVALID_ARGUMENT', 'INVALID_ARGUMENT', true],
  ['PERMISSION_DENIED', 'INVALID_ARGUMENT', true],
  ['NOT_READY', 'NOT_READY', true],
  ['OVERLOADED', 'OVERLOADED', true],
  ['SUBMISSION_EXPIRED', 'SUBMISSION_EXPIRED', true],
  ['LOG_REGRESSED', 'LOG_REGRESSED', true],
  ['CLOCK_OFF', 'CLOCK_OFF', false],
  ['INTERNAL', 'DEPENDENCY_UNAVAILABLE', false],
] as const)(
  'the error %s of the synchronizer becomes %s, definite: %s',
  async (theirs: ErrorCode, code, definite) => {
    await using running = await start(() => {
      throw new ScanError(theirs, 'no', { retryAfterSeconds: 3 })
    })
    const thrown = await running.client.submit(Uint8Array.of(1), signal).catch((error) => error)
    expect([thrown.code, thrown.spec.definite]).toEqual([code, definite])
    expect(thrown.retryAfterSeconds).toBe(
      thrown.spec.retryable && thrown.code === theirs ? 3 : null,
    )
  },
)

it('without a server the outcome is unknown', async () => {
  await using client = createLogClient({ url: 'http://127.0.0.1:1' })
  await expect(client.submit(Uint8Array.of(1), signal)).rejects.toMatchObject({
    code: 'DEPENDENCY_UNAVAILABLE',
  })
})

it('rejects an aborted wait with the reason of the signal', async () => {
  await using client = createLogClient({ url: 'http://127.0.0.1:1' })
  const aborted = AbortSignal.abort(new Error('shutting down'))
  await expect(client.submit(Uint8Array.of(1), aborted)).rejects.toThrow('shutting down')
})

describe('the stream of the log', () => {
  const TOKEN = 'token-of-one-who-follows-it'
  type Stream = Handlers<typeof synchronizerRoutes>['followLog']

  async function startStream(followLog: Stream) {
    const server = buildServer({
      routes: { followLog: synchronizerRoutes.followLog },
      handlers: { followLog },
      prefix: null,
      rateLimit: { unitsPerSecond: 1000, peerTokens: [TOKEN] },
    })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const client = createLogClient({ url: `${url}/`, token: TOKEN })
    return {
      url,
      client,
      [Symbol.asyncDispose]: async () => {
        await client[Symbol.asyncDispose]()
        await server.close()
      },
    }
  }

  it('arrives as it is sent, at a client with a token, and ends for the sender when the reader leaves', async () => {
    let left = false
    await using running = await startStream(async ({ query, client, signal }) => {
      signal.addEventListener('abort', () => {
        left = true
      })
      async function* body() {
        yield utf8(`from ${query.from} ${client.isPeer}`)
        await untilTrue('the reader to leave', () => signal.aborted)
      }
      return { body: body() }
    })
    for await (const piece of await running.client.open({ from: 7, signal })) {
      expect(Buffer.from(piece).toString()).toBe('from 7 true')
      break
    }
    await untilTrue('the sender to know', () => left)
  })

  it('that waits for its reader arrives in one piece', async () => {
    let isSent = false
    await using running = await startStream(async () => {
      async function* body() {
        for (let index = 0; index < 100; index++) yield new Uint8Array(1000)
        isSent = true
      }
      return { body: body() }
    })
    const pieces: number[] = []
    for await (const piece of await running.client.open({ from: 1, signal })) {
      await untilTrue('all to be sent', () => isSent)
      pieces.push(piece.byteLength)
    }
    expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBe(100_000)
    expect(pieces.length).toBeLessThan(10)
  })

  it.each(['UNAUTHENTICATED', 'OFFSET_PRUNED', 'OVERLOADED', 'DEPENDENCY_UNAVAILABLE'] as const)(
    'is refused with the error code %s',
    async (code) => {
      await using running = await startStream(async () => {
        throw new ScanError(code, 'why')
      })
      const refused = running.client.open({ from: 1, signal })
      await expect(refused).rejects.toMatchObject({ code, message: 'why' })
    },
  )

  it('without a server is DEPENDENCY_UNAVAILABLE, and a caller that aborted receives its reason', async () => {
    const client = createLogClient({ url: 'http://127.0.0.1:1', token: TOKEN })
    const refused = client.open({ from: 1, signal })
    await expect(refused).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    const reason = new Error('enough')
    const given = client.open({ from: 1, signal: AbortSignal.abort(reason) })
    await expect(given).rejects.toBe(reason)
    await client[Symbol.asyncDispose]()
  })

  it('over https is read if the certificate is trusted, and not otherwise', async () => {
    await using authority = await createAuthority()
    const { certFile, keyFile } = await authority.issue('synchronizer')
    const [key, cert] = await Promise.all([keyFile, certFile].map((file) => readFile(file)))
    if (key === undefined || cert === undefined) throw new Error('both were read')
    await using server = await serve((_, response) => void response.end('the log'), {
      tls: { key, cert },
    })
    const { url } = server
    const trusting = createLogClient({
      url,
      token: TOKEN,
      trust: openClientTls({
        ca: { variable: 'QS_PEER_CA', file: authority.caFile },
        own: null,
      }),
    })
    const other = createLogClient({ url, token: TOKEN })
    try {
      const pieces: Uint8Array[] = []
      for await (const piece of await trusting.open({ from: 1, signal })) pieces.push(piece)
      expect(Buffer.concat(pieces).toString()).toBe('the log')
      const refused = other.open({ from: 1, signal })
      await expect(refused).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
      // Submissions use the same TLS settings.
      await trusting.submit(new Uint8Array(1), signal)
      const unsent = other.submit(new Uint8Array(1), signal)
      await expect(unsent).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    } finally {
      await Promise.all([trusting, other].map((client) => client[Symbol.asyncDispose]()))
    }
  })
})

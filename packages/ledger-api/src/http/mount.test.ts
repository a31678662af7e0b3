/** The ledger interface in a server: the forms of its errors, and what they hide from callers. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { LedgerDecodeError, LedgerError, ScanError } from '@quorumscan/errors'
import { createLogger } from '@quorumscan/runtime'
import { buildServer } from '@quorumscan/server'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import type { Caller } from '../callers.ts'
import { mountLedger } from './mount.ts'

const routes = {
  read: {
    operationId: 'read',
    method: 'POST',
    path: '/v2/read',
    summary: '',
    tag: 'test',
    body: Type.Object({ at: Type.Integer({ format: 'int64' }) }),
    response: Type.Object({ ok: Type.Boolean() }),
    auth: 'user',
  },
} as const

const it = base.extend(
  'serve',
  ({ resources }) =>
    (read: () => Promise<{ ok: boolean }>, authenticate = async () => alice) => {
      const lines: string[] = []
      const logger = createLogger({
        name: 'test',
        level: 'info',
        stream: { write: (line) => lines.push(line) },
      })
      const clock = createManualClock()
      const app = buildServer({
        routes: {},
        handlers: {},
        prefix: null,
        rateLimit: null,
        logger,
        clock,
      })
      const participant = 'participant::1220'
      mountLedger(app, {
        routes,
        handlers: { read },
        authenticate,
        participant,
        prefix: '/api/x',
      })
      resources.onClose(() => app.close())
      const send = (payload = '{"at":1}') =>
        app.inject({
          method: 'POST',
          url: '/v2/read',
          payload,
          headers: { authorization: 'Bearer secret-token', 'x-request-id': 'req-7' },
        })
      return { app, lines, clock, send }
    },
)

const alice: Caller = { userId: 'alice', rights: [], expiresAt: null }

const REDACTED = {
  code: 'NA',
  cause: expect.stringContaining('security-sensitive'),
  correlationId: null,
  traceId: 'req-7',
  context: {},
  resources: [],
  errorCategory: -1,
  retryInfo: null,
  definiteAnswer: null,
}

it.for([
  ['an exception', new Error('secret reason'), 500, 13],
  ['no valid token', new LedgerError('UNAUTHENTICATED', 'secret reason'), 401, 16],
  ['a missing right', new LedgerError('PERMISSION_DENIED', 'secret reason'), 403, 7],
] as const)(
  '%s is redacted; its reason is logged with the correlation id',
  async ([_, error, status, grpc], { serve }) => {
    const { lines, send } = serve(() => Promise.reject(error))
    const reply = await send()
    expect(reply.statusCode).toBe(status)
    expect(reply.json()).toEqual({ ...REDACTED, grpcCodeValue: grpc })
    expect(reply.headers['www-authenticate']).toBeUndefined()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('secret reason')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request_id: 'req-7' })
    expect(lines[0]).not.toContain('secret-token')
  },
)

it('errors of decoding, of the JSON layer and of the ledger have different forms', async ({
  serve,
}) => {
  const text = await serve(() => Promise.reject(new LedgerDecodeError('body.at: no'))).send()
  expect([text.statusCode, text.headers['content-type'], text.body]).toEqual([
    400,
    'text/plain; charset=utf-8',
    'body.at: no',
  ])
  const json = await serve(() =>
    Promise.reject(new LedgerError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 'too many')),
  ).send()
  expect([json.statusCode, json.json()]).toEqual([
    413,
    {
      code: 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
      cause: 'too many',
      correlationId: null,
      traceId: 'req-7',
      context: {},
      resources: [],
      errorCategory: 2,
      grpcCodeValue: 10,
      retryInfo: '1 second',
      definiteAnswer: false,
    },
  ])
  const { lines, send } = serve(() => Promise.reject(new LedgerError('INVALID_ARGUMENT', 'why')))
  const ledger = await send()
  expect([ledger.statusCode, ledger.json()]).toEqual([
    400,
    {
      code: 'INVALID_ARGUMENT',
      cause: 'why',
      correlationId: null,
      traceId: 'req-7',
      context: {
        category: '8',
        definite_answer: 'false',
        participant: 'participant::1220',
        tid: 'req-7',
      },
      resources: [],
      errorCategory: 8,
      grpcCodeValue: 3,
      retryInfo: null,
      definiteAnswer: null,
    },
  ])
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'info', code: 'INVALID_ARGUMENT', status: 400, request_id: 'req-7', msg: 'why' },
  ])
})

it('a request is decoded, then authenticated, then handled', async ({ serve }) => {
  let isHandled = false
  const { send } = serve(
    async () => {
      isHandled = true
      return { ok: true }
    },
    () => Promise.reject(new LedgerError('UNAUTHENTICATED', 'no')),
  )
  expect((await send('{"at":"x"}')).statusCode).toBe(400)
  expect((await send()).statusCode).toBe(401)
  expect(isHandled).toBe(false)
})

it.for(['content-length: 300000', 'transfer-encoding: chunked'])(
  'the sender of a large body is authenticated before the body is read (%s)',
  async (length, { serve }) => {
    const refuse = () => Promise.reject(new LedgerError('UNAUTHENTICATED', 'no token'))
    const { app } = serve(async () => ({ ok: true }), refuse)
    const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`POST /v2/read HTTP/1.1\r\nhost: a\r\n${length}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
  },
)

it('a body may take 20 s to arrive, then it is 408, as text', async ({ serve }) => {
  const { app, clock } = serve(async () => ({ ok: true }))
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const begin = async () => {
    const socket = connect(Number(port), '127.0.0.1')
    const requested = once(app.server, 'request')
    const lines = ['POST /v2/read HTTP/1.1', 'host: a', 'x-request-id: r-1', 'content-length: 8']
    socket.write(`${lines.join('\r\n')}\r\n\r\n{"at"`)
    const [request] = await requested
    await untilTrue('the body to be read', () => request.listenerCount('data') > 0)
    return socket
  }
  const [slow, late] = [await begin(), await begin()]
  await clock.advance(19_999)
  slow.write(':1}')
  expect(String(await once(slow, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
  const answered = once(late, 'data')
  await clock.advance(1)
  const answer = String(await answered)
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*did not arrive completely in time$/s)
  expect(answer).toMatch(/^x-request-id: r-1\r$/m)
  expect(answer).toMatch(/^content-type: text\/plain; charset=utf-8\r$/m)
  expect(answer).toMatch(/^connection: close\r$/im)
  slow.destroy()
  late.destroy()
})

it('an operation that takes longer than 20 s is 503, as text', async ({ serve }) => {
  let begun = () => {}
  const begins = new Promise<void>((resolve) => {
    begun = resolve
  })
  const { clock, send } = serve(() => {
    begun()
    return new Promise(() => {})
  })
  const reply = send()
  await begins
  let isAnswered = false
  const answered = reply.finally(() => {
    isAnswered = true
  })
  await clock.advance(19_999)
  expect(isAnswered).toBe(false)
  await clock.advance(1)
  await answered
  const { statusCode, headers } = await reply
  expect([statusCode, headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8'])
})

it('a temporary failure is 503 with retry-after', async ({ serve }) => {
  const { send } = serve(() =>
    Promise.reject(new ScanError('OVERLOADED', 'busy', { retryAfterSeconds: 2 })),
  )
  const reply = await send()
  expect([reply.statusCode, reply.headers['retry-after'], reply.json().errorCategory]).toEqual([
    503,
    '2',
    1,
  ])
})

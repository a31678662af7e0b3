import { catalogue, ScanError } from '@quorumscan/errors'
import type { Transport } from '@quorumscan/reader'
import {
  createLogger,
  createMetrics,
  startTracing,
  traced,
  tracedTransport,
  traceIdOf,
  traceparentOf,
} from '@quorumscan/runtime'
import { createManualClock, startTraceCollector } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const routes = {
  getItem: {
    operationId: 'getItem',
    method: 'GET',
    path: '/v0/items/{name}',
    params: Type.Object({ name: Type.String() }),
    response: Type.Unknown(),
    tag: 'test',
    summary: '',
    errors: [],
    auth: 'none',
    cost: 1,
  },
} as const

function serverWith(options: Partial<ServerOptions<typeof routes, never>>) {
  return buildServer({
    routes,
    handlers: { getItem: async ({ forward }) => ({ body: { forward } }) },
    prefix: '/api/scan',
    rateLimit: null,
    ...options,
  })
}

it('every answer is counted under its operation, wherever it is mounted', async () => {
  const metrics = createMetrics()
  await using app = serverWith({ metrics })
  await app.inject('/v0/items/a')
  await app.inject('/api/scan/v0/items/b')
  await app.inject('/elsewhere')
  const { body, headers } = await app.inject('/metrics')
  expect(headers['content-type']).toContain('text/plain')
  expect(body).toContain(
    'quorumscan_http_request_duration_seconds_count{operation="getItem",status="200"} 2',
  )
  expect(body).toContain('operation="other",status="404"} 1')
  expect(body).toContain('process_cpu_seconds_total')
})

it('counters exist from the start, at zero', async () => {
  const metrics = createMetrics()
  metrics.counted({ name: 'alone_total', help: '.' })
  metrics.counted({ name: 'of_total', help: '.', labels: ['of'], known: [['x'], ['y']] })('x')
  metrics.durations({ name: 'wait_seconds', help: '.', labels: ['of'], known: [['x']] })
  await using app = serverWith({ metrics })
  const { body } = await app.inject('/metrics')
  const lines = [
    'quorumscan_alone_total 0',
    'quorumscan_of_total{of="x"} 1',
    'quorumscan_of_total{of="y"} 0',
    'quorumscan_wait_seconds_count{of="x"} 0',
    ...Object.keys(catalogue).map((code) => `quorumscan_errors_total{code="${code}"} 0`),
  ]
  expect(lines.filter((line) => !body.split('\n').includes(line))).toEqual([])
})

it('a refusal or failure is a log line with the id of its request; a missing entry is not logged', async () => {
  const logged: Record<string, unknown>[] = []
  const logger = createLogger({
    name: 'sv-1',
    level: 'info',
    stream: { write: (line) => void logged.push(JSON.parse(line)) },
  })
  const clock = createManualClock()
  const thrown = [
    new ScanError('PERMISSION_DENIED', 'not this one', { cause: new Error('of another user') }),
    new ScanError('ENTRY_NOT_FOUND', 'no such name'),
    new ScanError('DEPENDENCY_UNAVAILABLE', 'not now', { cause: new Error('gone') }),
    new Error('a bug'),
  ]
  const getItem = async () => {
    throw thrown.shift() ?? new ScanError('NAME_TAKEN', 'the name is taken')
  }
  const metrics = createMetrics()
  await using app = serverWith({ logger, clock, metrics, handlers: { getItem } })
  const ask = (id: string) =>
    app.inject({
      url: '/v0/items/alice?secret=1',
      headers: { 'x-request-id': id, authorization: 'Bearer of-alice' },
    })
  for (const id of ['r-1', 'r-2', 'r-3', 'r-4']) await ask(id)
  const common = { method: 'GET', path: '/v0/items/alice' }
  expect(logged).toMatchObject([
    { level: 'info', request_id: 'r-1', code: 'PERMISSION_DENIED', status: 403, ...common },
    { level: 'warn', request_id: 'r-3', code: 'DEPENDENCY_UNAVAILABLE', status: 503, ...common },
    { level: 'error', request_id: 'r-4', code: 'INTERNAL', status: 500, ...common },
  ])
  expect(logged[0]).toMatchObject({ msg: 'not this one', reason: 'of another user' })
  expect(JSON.stringify(logged)).not.toMatch(/secret|of-alice/)

  // The lines of one second are limited; a line counts the suppressed ones.
  logged.length = 0
  for (let count = 0; count < 30; count++) await ask('r-5')
  const lineCount = logged.length
  expect(lineCount).toBeLessThan(15)
  await clock.advance(1000)
  await ask('r-6')
  expect(logged.at(-1)).toMatchObject({ request_id: 'r-6', suppressed: 30 - lineCount })
  const { text } = await metrics.expose()
  expect(text).toContain('quorumscan_errors_total{code="NAME_TAKEN"} 31')
  expect(text).toContain('quorumscan_errors_total{code="ENTRY_NOT_FOUND"} 1')
})

it('rate limits are counted, and reading the metrics costs units', async () => {
  const metrics = createMetrics()
  const clock = createManualClock()
  await using app = serverWith({ metrics, clock, rateLimit: { unitsPerSecond: 12 } })
  await app.inject('/metrics')
  const statuses = []
  for (let count = 0; count < 4; count++)
    statuses.push((await app.inject('/v0/items/a')).statusCode)
  expect(statuses).toEqual([200, 200, 429, 429])
  const { text } = await metrics.expose()
  expect(text).toContain('quorumscan_errors_total{code="RATE_LIMITED"} 2')
})

it('a source that hangs or fails loses its own values only', async () => {
  const metrics = createMetrics()
  metrics.sampled('gauge', { name: 'hung', help: '.', read: () => new Promise(() => {}) })
  metrics.sampled('gauge', { name: 'broken', help: '.', read: () => Promise.reject(new Error()) })
  metrics.sampled('gauge', { name: 'fine', help: '.', labels: ['of'], read: () => [[['x'], 3]] })
  const { text } = await metrics.expose()
  expect(text).toContain('quorumscan_fine{of="x"} 3')
  expect(text).not.toMatch(/^quorumscan_(hung|broken)[ {]/m)
})

it('durations fall into the first bucket that holds them, and buckets add up', async () => {
  const metrics = createMetrics()
  const observer = metrics.durations({ name: 'wait_seconds', help: '.', labels: ['of'] })('x')
  for (const seconds of [0, 0.001, 0.0011, 9, 10.5]) observer.observe(seconds)
  const { text } = await metrics.expose()
  const lines = text.split('\n').filter((line) => line.startsWith('quorumscan_wait_seconds'))
  const numberAfter = (start: string) => lines.find((line) => line.includes(start))?.split(' ')[1]
  expect(['0.001', '0.0025', '5', '10', '+Inf'].map((le) => numberAfter(`le="${le}"`))).toEqual([
    '2',
    '3',
    '3',
    '4',
    '5',
  ])
  expect(numberAfter('_count{of="x"}')).toBe('5')
  expect(Number(numberAfter('_sum'))).toBeCloseTo(19.5021)
  expect(text).toContain('# TYPE quorumscan_wait_seconds histogram')
})

it('requests on behalf of a request carry its id', async () => {
  await using app = serverWith({})
  const answer = await app.inject({ url: '/v0/items/a', headers: { 'x-request-id': 'wallet-7' } })
  expect(answer.json()).toEqual({ forward: { 'x-request-id': 'wallet-7' } })
})

const TRACE = 'ab'.repeat(16)
const TRACEPARENT = `00-${TRACE}-${'cd'.repeat(8)}-01`

it('nothing is traced without a collector, and everything is sent to one, within the caller’s trace', async () => {
  expect(await startTracing({ service: 'sv-1', endpoint: null })).toBeNull()
  await using collector = await startTraceCollector()
  {
    await using tracer = await startTracing({ service: 'sv-1', endpoint: collector.endpoint })
    await using app = serverWith({ tracer })
    const answer = await app.inject({ url: '/v0/items/a', headers: { traceparent: TRACEPARENT } })
    expect(answer.json().forward.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  }
  const [body] = collector.bodies
  for (const word of [TRACE, 'getItem', 'quorumscan-sv-1']) expect(body).toContain(word)
})

it('requests on behalf of a request or a job are child spans; other requests make no span', async () => {
  const sent: (string | undefined)[] = []
  const asked: Transport = {
    async request({ path, headers }) {
      sent.push(headers['traceparent'])
      if (path.startsWith('/silent')) throw new DOMException('the caller left', 'TimeoutError')
      return { status: 200, header: () => null, body: new Uint8Array() }
    },
  }
  const ask = (transport: Transport, path: string, headers = {}) =>
    transport
      .request({
        url: 'http://127.0.0.1:4611',
        method: 'GET',
        path,
        headers,
        body: null,
        bytesMax: 1,
        channel: 'lookup',
        isPublicOnly: false,
        signal: new AbortController().signal,
      })
      .catch(() => {})
  await using collector = await startTraceCollector()
  {
    await using tracer = await startTracing({ service: 'validator', endpoint: collector.endpoint })
    const transport = tracedTransport(asked, tracer, (url) => `sv-1 at ${url}`)
    const named = tracedTransport(asked, tracer, () => 'sv-2')
    await ask(named, '/besides')
    const getItem = async ({ forward }: { forward: object }) => {
      await ask(transport, '/silent?name=alice', forward)
      await ask(named, '/inside', tracer?.currentHeaders())
      return { body: null }
    }
    await using app = serverWith({ tracer, handlers: { getItem } })
    await app.inject({ url: '/v0/items/a', headers: { traceparent: TRACEPARENT } })
    await traced(tracer, { kind: 'job', name: 'renew', attributes: {} }, async () => {
      await ask(transport, '/job', tracer?.currentHeaders())
    })
  }
  const spans = ['getItem', 'GET sv-1 at http://127.0.0.1:4611', 'GET sv-2', 'renew'].map((name) =>
    collector.spans().find((span) => span.name === name),
  )
  const [request, silent, inside, run] = spans
  expect(request).toMatchObject({ traceId: TRACE, kind: 2 })
  expect(silent).toMatchObject({ traceId: TRACE, kind: 3, parentSpanId: request?.spanId })
  expect(silent).toMatchObject({ status: { code: 2 } })
  expect(inside).toMatchObject({ traceId: TRACE, kind: 3, parentSpanId: request?.spanId })
  expect(run?.traceId).not.toBe(TRACE)
  const traceOf = (span: (typeof spans)[number]) => `00-${span?.traceId}-${span?.spanId}-01`
  expect(sent.slice(0, 3)).toEqual([undefined, traceOf(silent), traceOf(inside)])
  expect(sent[3]).toContain(`00-${run?.traceId}-`)
  expect(collector.bodies.join()).not.toContain('alice')
})

it.each<[string, string | null, string]>([
  [TRACEPARENT, TRACEPARENT, 'as it came'],
  [`01-${TRACEPARENT.slice(3)}-more`, TRACEPARENT, 'of a later version, in the words of this one'],
  [`00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`, null, 'of no trace'],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, null, 'of no span'],
  [`${TRACEPARENT}-more`, null, 'too long'],
  ['hello', null, 'none'],
])('%s is read as %s: %s', (traceparent, read, _why) => {
  expect(traceparentOf({ traceparent })).toBe(read)
  expect(traceIdOf({ traceparent })).toBe(read === null ? null : TRACE)
})

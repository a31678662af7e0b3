/** Every answer of a server tells browsers to run and load nothing, whatever the request was. */
import { ScanError } from '@quorumscan/errors'
import { createMetrics } from '@quorumscan/runtime'
import { createManualClock, createRawClient, textUntilClosed, untilRead } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { buildServer, type ServerOptions } from './server.ts'

const common = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  get: { ...common, operationId: 'get', method: 'GET', path: '/get', response: Type.String() },
  refuse: {
    ...common,
    operationId: 'refuse',
    method: 'GET',
    path: '/refuse',
    errors: ['ENTRY_NOT_FOUND'],
    response: Type.String(),
  },
  fail: { ...common, operationId: 'fail', method: 'GET', path: '/fail', response: Type.String() },
  busy: {
    ...common,
    operationId: 'busy',
    method: 'GET',
    path: '/busy',
    cost: () => 4096,
    response: Type.String(),
  },
  put: {
    ...common,
    operationId: 'put',
    method: 'POST',
    path: '/put',
    body: Type.Object({ size: Type.Integer() }),
    response: Type.Integer(),
  },
} as const

const it = base.extend(
  'ask',
  ({ resources }) =>
    async (options: Partial<ServerOptions<typeof routes, never>>, isOperator: boolean) => {
      const main = buildServer({
        routes,
        handlers: {
          get: async () => ({ body: '<script>' }),
          refuse: async () => ({
            headers: {},
            error: new ScanError('ENTRY_NOT_FOUND', '<script>'),
          }),
          fail: async () => {
            throw new Error('<script>')
          },
          busy: async () => new Promise<never>(() => {}),
          put: async ({ body }) => ({ body: body.size }),
        },
        prefix: '/api/test',
        rateLimit: null,
        metrics: createMetrics(),
        clock: createManualClock(),
        hasOperatorServer: isOperator,
        ...options,
      })
      resources.onClose(() => main.close())
      const server = isOperator ? main.buildOperatorServer() : main
      if (isOperator) resources.onClose(() => server.close())
      const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
      return async (text: string) => {
        using client = createRawClient(Number(port))
        const socket = await client.open()
        const answer = textUntilClosed(socket)
        socket.write(text)
        return await answer
      }
    },
)

const get = (path: string, ...headers: readonly string[]) => head('GET', path, ...headers)
const head = (method: string, path: string, ...headers: readonly string[]) =>
  `${[`${method} ${path} HTTP/1.1`, 'host: a', 'connection: close', ...headers].join('\r\n')}\r\n\r\n`
const put = (body: string, type = 'application/json') =>
  head('POST', '/put', `content-type: ${type}`, `content-length: ${body.length}`) + body
const POLICY = /^content-security-policy: default-src 'none'; base-uri 'none';/im
const WEBSOCKET = ['upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: a']

const REQUESTS: readonly (readonly [status: number, what: string, request: string])[] = [
  [200, 'an answer', get('/get')],
  [200, 'an answer below the prefix', get('/api/test/get')],
  [200, 'HEAD', head('HEAD', '/get')],
  [200, 'metrics', get('/metrics')],
  [404, 'a refusal', get('/refuse')],
  [500, 'a defect', get('/fail')],
  [404, 'an unknown path', get('/<script>')],
  [404, 'a path like a file', get('/index.html')],
  [400, 'a malformed path', get('/%zz')],
  [405, 'another method', head('PUT', '/get')],
  [501, 'an unknown method', head('QUERY', '/get')],
  [
    204,
    'a preflight',
    head('OPTIONS', '/get', 'origin: https://a', 'access-control-request-method: GET'),
  ],
  [400, 'a malformed body', put('{')],
  [400, 'a body of another form', put('{"size":"x"}')],
  [415, 'a body of another type', put('<script>', 'text/html')],
  [413, 'a body that is too large', put(`{"size":"${'x'.repeat(3000)}"}`)],
  [400, 'no HTTP', 'hello\r\n\r\n'],
  [400, 'two lengths', head('POST', '/put', 'content-length: 1', 'content-length: 2')],
  [431, 'too many bytes of headers', get('/get', `x-a: ${'x'.repeat(100_000)}`)],
  [200, 'an offer of a WebSocket', get('/get', ...WEBSOCKET).replace('close', 'close, upgrade')],
  [501, 'CONNECT', head('CONNECT', 'a:443')],
]

it.for(REQUESTS)('%i: %s', async ([status, , text], { ask }) => {
  for (const isOperator of [false, true]) {
    const limits = { bodyBytesMax: 2000 }
    const answer = await (await ask({ limits }, isOperator))(text)
    const [headers = ''] = answer.split('\r\n\r\n')
    if (!isOperator) expect(Number(answer.slice(9, 12))).toBe(status)
    expect(headers).toMatch(POLICY)
    expect(headers).toMatch(/^x-content-type-options: nosniff/im)
    expect(headers).not.toMatch(/^content-type: text\/html/im)
  }
})

it('429, too', async ({ ask }) => {
  const askLittle = await ask({ rateLimit: { unitsPerSecond: 1 } }, false)
  const answers = [
    await askLittle(get('/get')),
    await askLittle(get('/get')),
    await askLittle(get('/get')),
  ]
  expect(answers.at(-1)).toMatch(/^HTTP\/1\.1 429 /)
  for (const answer of answers) expect(answer).toMatch(POLICY)
})

it('503, too: of a handler that is late, and of a server with too much work', async ({ ask }) => {
  const clock = createManualClock()
  const askBusy = await ask({ clock }, false)
  const late = askBusy(get('/busy'))
  const refused = await untilRead(
    'a refusal',
    () => askBusy(get('/get')),
    (answer) => answer.startsWith('HTTP/1.1 503 '),
  )
  await clock.advance(60_000)
  expect(await late).toMatch(/^HTTP\/1\.1 503 /)
  for (const answer of [await late, refused]) expect(answer).toMatch(POLICY)
})

/**
 * Exchanges that a client begins and never finishes: each connection ends by itself, memory is given back, other clients
 * are served, and the server closes in its time. The long part has the limits of production and 1 000 of each kind.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSystemClock } from '@quorumscan/base'
import { createLogger, openTlsCertificate } from '@quorumscan/runtime'
import {
  beginHalfFinished,
  cases,
  createAuthority,
  createRawClient,
  HALF_FINISHED,
  HALF_FINISHED_VARIANTS,
  isLong,
  until,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { buildServer } from './server.ts'
import { apiSocketDialect } from './sockets/api-sockets.ts'
import { mountSockets } from './sockets/mount.ts'

/** Of each kind at once, and how often: 1 000 in all. A handshake of TLS is work for both sides, which are this process. */
const ROUNDS = {
  http: { count: cases(10, 500), rounds: cases(1, 2) },
  https: { count: cases(10, 250), rounds: cases(1, 4) },
}
/** Short, but for what the test itself asks. Those of production are `undefined` here. */
const SHORT = isLong
  ? {}
  : {
      requestMsMax: 5000,
      bodyMsMax: 500,
      keepAliveMsMax: 500,
      idleConnectionMsMax: 6000,
      answerMsMax: 1000,
      drainMsMax: 1000,
    }
/** Within the 120 s of the long part. */
const END_MS_MAX = 120_000
/** The long part opens nearly as many connections as a server accepts. */
const KINDS = isLong ? HALF_FINISHED : [...HALF_FINISHED, ...HALF_FINISHED_VARIANTS]
const HEAP_BYTES_MAX = 5 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heapBytes = () => {
  for (let round = 0; round < 3; round++) collect()
  return process.memoryUsage().heapUsed
}

const common = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  get: { ...common, operationId: 'get', method: 'GET', path: '/get', response: Type.String() },
  put: {
    ...common,
    operationId: 'put',
    method: 'POST',
    path: '/put',
    body: Type.Object({}),
    response: Type.Null(),
  },
} as const

const it = base
  .extend('authority', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority()),
  )
  .extend('files', { scope: 'file' }, ({ authority }) => authority.issue('sv-1'))

it.for(['http', 'https'] as const)(
  '%s: exchanges that never end are ended',
  {
    tags: ['half-finished'],
    timeout: 6 * END_MS_MAX,
  },
  async (scheme, { files, authority, resources }) => {
    const clock = createSystemClock()
    const logger = createLogger({ name: 'test', level: 'silent' })
    const app = buildServer({
      routes,
      handlers: {
        get: async () => ({ body: 'x'.repeat(1000) }),
        put: async () => ({ body: null }),
      },
      prefix: null,
      rateLimit: null,
      clock,
      certificate: scheme === 'http' ? null : await openTlsCertificate(files, { clock, logger }),
      limits: SHORT,
    })
    const sockets = [
      {
        path: '/v0/stream',
        request: Type.Object({}),
        open: async () =>
          (async function* () {
            yield ['1']
          })(),
      },
    ] as const
    const dialect = apiSocketDialect({ sockets, prefix: '/api/test' })
    mountSockets(app, { dialects: [dialect], clock })
    await app.listen({ host: '127.0.0.1', port: 0 })
    resources.onClose(() => app.close())
    const { port } = app.server.address() as { port: number }
    const ca = await readFile(authority.caFile)
    const { secure } = createRawClient(port, ca)
    const target = {
      port,
      getPath: '/get',
      postPath: '/put',
      socketPath: '/v0/stream',
      ...(scheme === 'https' && { secure }),
    }
    const connectionCount = () =>
      new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
    const statusOfOther = async () => {
      const options = { host: '127.0.0.1', port, path: '/get', ca, agent: false }
      const request = scheme === 'http' ? getHttp(options) : getHttps(options)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    }
    const { count, rounds } = ROUNDS[scheme]
    const heaps: number[] = []
    for (let round = 0; round < rounds; round++) {
      using _held = await beginHalfFinished(target, count, KINDS)
      expect(await statusOfOther()).toBe(200)
      await until(
        'all connections to be closed',
        async () => ((await connectionCount()) === 0 ? true : undefined),
        { timeoutMs: END_MS_MAX, intervalMs: 200 },
      )
      if (isLong) heaps.push(heapBytes())
    }
    // After the first round exists what as many connections make once, such as tables of this client.
    if (isLong) expect((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)).toBeLessThan(HEAP_BYTES_MAX)

    // A server closes with all of them open.
    using _others = await beginHalfFinished(target, 2, KINDS)
    await app.close()
  },
)

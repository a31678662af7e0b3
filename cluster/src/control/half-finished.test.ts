/**
 * Exchanges with the control plane that a client begins and never finishes end by themselves.
 *
 * @module-tag rest
 */

import { createMetrics } from '@quorumscan/runtime'
import {
  beginHalfFinished,
  cases,
  HALF_FINISHED,
  HALF_FINISHED_VARIANTS,
  isLong,
  until,
} from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { drawBasePort } from '../rig/ports.ts'
import { startControlServer } from './server.ts'

/** In the long part as many as file descriptors allow at once. */
const COUNT = cases(5, 500)
const LIMITS = isLong
  ? {}
  : { requestMsMax: 2000, bodyMsMax: 500, keepAliveMsMax: 500, answerMsMax: 1000 }
const END_MS_MAX = 120_000
const KINDS = isLong ? HALF_FINISHED : [...HALF_FINISHED, ...HALF_FINISHED_VARIANTS]

it('the control plane ends them, and closes while some are open', {
  tags: ['half-finished'],
  timeout: 2 * END_MS_MAX,
}, async () => {
  const port = await drawBasePort(0, { nodeCount: 1, ordering: 'redis' })
  const server = await startControlServer({
    port,
    token: 'secret',
    context: () => {
      throw new Error('no cluster in this test')
    },
    metrics: createMetrics(),
    limits: LIMITS,
  })
  const target = {
    port,
    getPath: '/trpc/cluster.status',
    postPath: '/trpc/cluster.stop',
    socketPath: '/trpc',
    host: `127.0.0.1:${port}`,
  }
  using held = await beginHalfFinished(target, COUNT, KINDS)
  expect((await server.inject({ url: '/', headers: { host: target.host } })).statusCode).toBe(404)
  await until(
    'all connections to be closed',
    () =>
      new Promise<true | undefined>((resolve) =>
        server.server.getConnections((_, count) => resolve(count === 0 ? true : undefined)),
      ),
    { timeoutMs: END_MS_MAX, intervalMs: 200 },
  )
  held[Symbol.dispose]()
  using _others = await beginHalfFinished(target, 2, KINDS)
  await server.close()
})

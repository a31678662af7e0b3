/**
 * The memory that a handler uses is free once its request has ended.
 * @module-tag thorough
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ScanError } from '@quorumscan/errors'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { it } from 'vitest'
import { buildServer } from './server.ts'

const common = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const
const routes = {
  ask: {
    ...common,
    operationId: 'ask',
    method: 'GET',
    path: '/ask',
    response: Type.Boolean(),
  },
} as const

/** How a handler can fail. */
const failures = {
  throws: (error: unknown) => {
    throw error
  },
  rejects: (error: unknown) => Promise.reject(error),
}

it.each(Object.entries(failures))(
  'nothing remains of 10 000 requests whose handler %s',
  async (_, fail) => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const server = buildServer({
      routes,
      handlers: { ask: () => fail(new ScanError('INVALID_PAGE_TOKEN', 'another list')) },
      prefix: null,
      rateLimit: null,
      // No deadline passes, which would release a request.
      clock: createManualClock(),
    })
    const ask = async (count: number) => {
      for (let left = count; left > 0; left--) await server.inject('/ask')
    }
    await ask(100)
    collect()
    const before = process.memoryUsage().heapUsed
    await ask(10_000)
    // A request takes 10 kB and more.
    await untilTrue('memory to be free again', () => {
      collect()
      return process.memoryUsage().heapUsed - before < 10_000_000
    })
    await server.close()
  },
)

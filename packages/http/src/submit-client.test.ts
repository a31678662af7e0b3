import { synchronizerRoutes } from '@quorumscan/api'
import { type ErrorCode, ScanError } from '@quorumscan/errors'
import { expect, test } from 'vitest'
import type { Handlers } from './handler.ts'
import { buildServer } from './server.ts'
import { createSubmitClient } from './submit-client.ts'

async function start(submitEntry: (bytes: Uint8Array) => void) {
  const unused = async () => expect.fail('not called')
  const handlers: Handlers<typeof synchronizerRoutes> = {
    livez: unused,
    readyz: unused,
    getStatus: unused,
    getVersion: unused,
    submitEntry: async ({ body }) => {
      submitEntry(body)
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
  const client = createSubmitClient({ url })
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await server.close()
    },
  }
}

const signal = new AbortController().signal

test('the bytes arrive as they are', async () => {
  const received: Uint8Array[] = []
  await using running = await start((bytes) => void received.push(bytes))
  const entry = Uint8Array.of(1, 0, 255, 2).subarray(1, 3)
  await running.client.submit(entry, signal)
  expect(received).toEqual([Uint8Array.of(0, 255)])
})

test.each([
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
  'the synchronizer’s %s is %s here, definite: %s',
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

test('nobody there: nothing is known', async () => {
  await using client = createSubmitClient({ url: 'http://127.0.0.1:1' })
  await expect(client.submit(Uint8Array.of(1), signal)).rejects.toMatchObject({
    code: 'DEPENDENCY_UNAVAILABLE',
  })
})

test('who stops waiting gets the own reason back', async () => {
  await using client = createSubmitClient({ url: 'http://127.0.0.1:1' })
  const aborted = AbortSignal.abort(new Error('shutting down'))
  await expect(client.submit(Uint8Array.of(1), aborted)).rejects.toThrow('shutting down')
})

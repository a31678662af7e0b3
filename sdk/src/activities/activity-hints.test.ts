/** Hints of new activities over the WebSocket of a validator. A server sends scripted frames. */
import { expect, it } from 'vitest'
import { type ServerSide, scriptedSockets } from '../../testing/scripted-socket.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createActivityHints } from './activity-hints.ts'

function world(serve: readonly ((server: ServerSide) => void)[]) {
  let nowMs = 0
  /** Silence passes where nothing else is left to happen, deadlines do not. */
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async delay(ms, signal) {
      if (ms === 45_000) await new Promise<void>((resolve) => setImmediate(resolve))
      else await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      signal?.throwIfAborted()
    },
  }
  const { WebSocket, opened } = scriptedSockets(serve)
  const hints = createActivityHints({ WebSocket, url: 'https://v.test/api/validator', clock })
  const collect = async (signal?: AbortSignal) => {
    const offsets: number[] = []
    let error: unknown = null
    try {
      for await (const offset of hints(signal)) offsets.push(offset)
    } catch (thrown) {
      error = thrown
    }
    return { offsets, error }
  }
  return {
    collect,
    opened,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

it('a hint is the highest offset of frames that arrived together', async () => {
  const { collect, opened } = world([
    (server) => {
      server.open({ offset: 5 }, { offset: 9 }, { offset: 7 })
      setImmediate(() => server.close())
    },
  ])
  expect(await collect()).toEqual({
    offsets: [9],
    error: expect.objectContaining({ code: 'NETWORK_ERROR', retryable: true }),
  })
  expect(opened.map(({ url, protocols }) => [url, protocols])).toEqual([
    ['wss://v.test/api/validator/v0/scan-proxy/activities', []],
  ])
  expect(opened[0]?.request()).toEqual({})
})

it('hints end if no socket opens, and none is tried for a minute', async () => {
  const { collect, opened, pass } = world([(server) => server.close()])
  const none = { offsets: [], error: null }
  expect([await collect(), await collect()]).toEqual([none, none])
  expect(opened.length).toBe(1)
  pass(60_000)
  expect(await collect()).toEqual(none)
  expect(opened.length).toBe(2)
})

it.each<[string, object, object]>([
  ['an invalid offset', { offset: -1 }, { code: 'INVALID_RESPONSE', retryable: false }],
  ['a missing offset', {}, { code: 'INVALID_RESPONSE', retryable: false }],
  [
    'a refusal',
    { error: 'no', code: 'RATE_LIMITED', definite: true, retryable: true, details: null },
    { code: 'RATE_LIMITED', retryable: true },
  ],
])('hints fail with %s', async (_, frame, error) => {
  const { collect } = world([(server) => server.open({ offset: 1 }, frame)])
  expect(await collect()).toEqual({ offsets: [1], error: expect.objectContaining(error) })
})

it('hints end when the server is silent', async () => {
  const { collect } = world([(server) => server.open({ offset: 1 })])
  expect(await collect()).toEqual({
    offsets: [1],
    error: expect.objectContaining({ code: 'NETWORK_ERROR' }),
  })
})

it('hints end when the signal aborts, with its reason', async () => {
  const abort = new AbortController()
  const { collect } = world([
    (server) => {
      server.open()
      abort.abort(new Error('enough'))
    },
  ])
  expect(await collect(abort.signal)).toEqual({ offsets: [], error: new Error('enough') })
})

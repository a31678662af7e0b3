/** Watching a name, on a clock that the test moves. */

import { until } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'
import { afterEach, expect, it, vi } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { broadcast } from '../platform/page-events.ts'
import type { LookupOutcome } from './lookup-outcome.ts'
import type { WatchOptions } from './lookup-types.ts'
import { watchName } from './watch-name.ts'

const NAME = 'a.unverified.ns'
const START_MICROS = 1_700_000_000_000_000

/** A clock that advances by each delay, or by more. */
function createClock() {
  let micros = START_MICROS
  let sleptMs = 0
  const clock: Clock = {
    nowMicros: () => micros,
    monotonicMs: () => micros / 1000,
    async delay(ms, signal) {
      await systemClock.delay(1, signal)
      micros += (ms + sleptMs) * 1000
      sleptMs = 0
    },
  }
  return {
    clock,
    sleep: (ms: number) => {
      sleptMs = ms
    },
    nowMs: () => (micros - START_MICROS) / 1000,
  }
}
const found = (clock: Clock, party = 'alice', endsMs: number | null = null) =>
  ({
    kind: 'proven',
    recordTime: formatInstant(clock.nowMicros()),
    value: {
      name: NAME,
      party,
      expiresAt: endsMs === null ? null : formatInstant(START_MICROS + endsMs * 1000),
    },
    basis: 'proof',
    changed: null,
  }) as unknown as LookupOutcome // What watching looks at.

function watch(
  clock: Clock,
  lookup: (signal?: AbortSignal) => Promise<LookupOutcome>,
  signal?: AbortSignal,
  more: Pick<WatchOptions, 'onStart' | 'maxAgeMs'> = {},
) {
  return watchName(NAME, {
    ...more,
    clock,
    lookup: (_, options) => lookup(options?.signal),
    channel: async () => 'quorumscan:test',
    ...(signal === undefined ? {} : { signal }),
  })
}

const never = () => new Promise<never>(() => {})

afterEach(() => vi.unstubAllGlobals())

it('reports a change of owner, and no equal answer twice', async () => {
  const { clock } = createClock()
  let askCount = 0
  const watching = watch(clock, async () => found(clock, ++askCount < 5 ? 'alice' : 'bob'))
  expect((await watching.next()).value).toMatchObject({ value: { party: 'alice' } })
  expect((await watching.next()).value).toMatchObject({ value: { party: 'bob' } })
  expect(askCount).toBe(5)
  await watching.return(undefined as never)
})

it('reports the end of an entry at its time, without an answer of nodes', async () => {
  const { clock, nowMs } = createClock()
  const watching = watch(clock, async () => found(clock, 'alice', 1130))
  expect((await watching.next()).value).toMatchObject({ kind: 'proven' })
  expect((await watching.next()).value).toMatchObject({
    kind: 'failed',
    error: { code: 'NAME_EXPIRED', details: { entry: { party: 'alice' } } },
  })
  expect(nowMs()).toBe(1130)
  await watching.return(undefined as never)
})

it('reports a stale answer, also while the device is offline, and continues to ask', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  const { clock } = createClock()
  let askCount = 0
  const watching = watch(clock, async () => {
    if (askCount++ === 0) return found(clock)
    throw new QuorumscanError('no', { code: 'NETWORK_ERROR', definite: true, retryable: true })
  })
  expect((await watching.next()).value).toMatchObject({ kind: 'proven' })
  expect((await watching.next()).value).toMatchObject({
    kind: 'stale',
    error: { code: 'OFFLINE' },
  })
  expect(askCount).toBeGreaterThan(5)
  await watching.return(undefined as never)
})

it('asks nothing while the page is hidden, and at once when it is shown', async () => {
  const listeners: (() => void)[] = []
  const document = {
    visibilityState: 'hidden',
    addEventListener: (_: string, listener: () => void) => listeners.push(listener),
  }
  vi.stubGlobal('document', document)
  const { clock, nowMs } = createClock()
  let askCount = 0
  const watching = watch(clock, async () => found(clock, ++askCount === 1 ? 'alice' : 'bob'))
  await watching.next()
  const next = watching.next()
  await until('ten polls', async () => (nowMs() > 10 * 250 ? true : undefined))
  expect(askCount).toBe(1)
  document.visibilityState = 'visible'
  for (const listener of listeners) listener()
  expect((await next).value).toMatchObject({ value: { party: 'bob' } })
  await watching.return(undefined as never)
})

it('asks at once after a sleep, and aborts the request in flight', async () => {
  const { clock, sleep } = createClock()
  const signals: (AbortSignal | undefined)[] = []
  const watching = watch(clock, async (signal) => {
    signals.push(signal)
    if (signals.length === 2) return new Promise<never>(() => {})
    return found(clock, signals.length < 3 ? 'alice' : 'bob')
  })
  await watching.next()
  const next = watching.next()
  await until('a question that hangs', async () => (signals.length === 2 ? true : undefined))
  sleep(600_000)
  // Until the answer comes, the old one is stale.
  const woken = await next
  const { value } = woken.value.kind === 'stale' ? await watching.next() : woken
  expect(value).toMatchObject({ kind: 'proven', value: { party: 'bob' } })
  expect(signals[1]?.aborted).toBe(true)
  await watching.return(undefined as never)
})

it('asks at once when another client of the store has accepted a change', async () => {
  const { clock } = createClock()
  // Delays never end, so no request is due by time.
  const still = {
    ...clock,
    delay: (_: number, signal?: AbortSignal) => systemClock.delay(1e9, signal),
  }
  let askCount = 0
  const watching = watch(still, async () => found(clock, ++askCount === 1 ? 'alice' : 'bob'))
  await watching.next()
  const next = watching.next()
  await until('a question', async () => {
    // A change is only read again half a second after the last request.
    await clock.delay(1000)
    broadcast('quorumscan:test', NAME)
    return askCount > 1 ? true : undefined
  })
  expect((await next).value).toMatchObject({ value: { party: 'bob' } })
  await watching.return(undefined as never)
})

it('ends with a permanent error, or with the reason of the signal', async () => {
  const { clock } = createClock()
  const closed = new QuorumscanError('closed', { code: 'CLOSED', definite: true, retryable: false })
  await expect(watch(clock, () => Promise.reject(closed)).next()).rejects.toBe(closed)
  const leaving = new AbortController()
  let asked: AbortSignal | undefined
  const next = watch(
    clock,
    (signal) => {
      asked = signal
      return new Promise<never>(() => {})
    },
    leaving.signal,
  ).next()
  await until('a question', async () => asked)
  leaving.abort(new Error('left'))
  await expect(next).rejects.toThrow('left')
  expect(asked?.aborted).toBe(true)
})

it('an answer ages while it is asked for again and again, and nodes never answer', async () => {
  const { clock, nowMs } = createClock()
  let askCount = 0
  let askAgain = () => {}
  const lookup = () => (askCount++ === 0 ? Promise.resolve(found(clock)) : never())
  const watching = watch(clock, lookup, undefined, {
    maxAgeMs: 20_000,
    onStart(again) {
      askAgain = again
    },
  })
  expect((await watching.next()).value).toMatchObject({ kind: 'proven' })
  const next = watching.next()
  let isOver = false
  void next.then(() => {
    isOver = true
  })
  for (let askedAtMs = 0; !isOver; ) {
    if (nowMs() - askedAtMs >= 4000) {
      askedAtMs = nowMs()
      askAgain()
    }
    await systemClock.delay(1)
  }
  expect((await next).value).toMatchObject({ kind: 'stale', error: null })
  expect(nowMs()).toBeLessThan(22_000)
  await watching.return(undefined as never)
  askAgain()
  expect(askCount).toBe(2)
})

it('is asked again at once, and no request is cancelled for it', async () => {
  const { clock, nowMs } = createClock()
  const signals: (AbortSignal | undefined)[] = []
  let askAgain = () => {}
  let answer = (_: LookupOutcome) => {}
  const lookup = (signal?: AbortSignal) => {
    signals.push(signal)
    if (signals.length === 1) return Promise.resolve(found(clock))
    return new Promise<LookupOutcome>((resolve) => {
      answer = resolve
    })
  }
  const watching = watch(clock, lookup, undefined, {
    onStart(again) {
      askAgain = again
    },
  })
  await watching.next()
  const atMs = nowMs()
  askAgain()
  askAgain()
  expect(signals).toHaveLength(2)
  expect(nowMs()).toBe(atMs)
  answer(found(clock, 'bob'))
  expect((await watching.next()).value).toMatchObject({ value: { party: 'bob' } })
  expect(signals[1]?.aborted).toBe(false)
  await watching.return(undefined as never)
})

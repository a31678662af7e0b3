/** What a name that is watched shows, and when it is asked for again. */
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import type { Found, LookupOutcome } from './lookup-types.ts'
import {
  NOTHING_KNOWN,
  nextTickMs,
  step,
  view,
  type WatchEvent,
  type WatchState,
} from './watch-state.ts'

const START_MS = 1_700_000_000_000
const limits = { maxAgeMs: 60_000, pollMs: 250 }
const at = (ms: number, isOffline = false, isHidden = false) => ({
  ...{ ms: START_MS + ms, isOffline, isHidden },
})
const textOf = (ms: number) => formatInstant((START_MS + ms) * 1000)
const facts = {
  offset: 1,
  threshold: 2,
  nodeCount: 4,
  agreed: [],
  dissented: [],
  trust: null,
  basis: 'proof',
  clockSkewMs: null,
  receipt: null,
} as const
const found = (recordMs: number, expiresMs: number | null = null): Found => ({
  ...facts,
  kind: 'verified',
  recordTime: textOf(recordMs),
  entry: {
    name: 'a.unverified.ns',
    party: 'alice::1220',
    url: '',
    description: '',
    expiresAt: expiresMs === null ? null : textOf(expiresMs),
    contractId: null,
  },
  changed: null,
})
const away = { ...facts, kind: 'insufficient', reachable: 1, needed: 2, answered: 1 } as const
const failure = (retryAfterMs: number | null) =>
  new QuorumscanError('no', { code: 'TIMEOUT', definite: true, retryable: true, retryAfterMs })
const answered = (outcome: object): WatchEvent => ({
  kind: 'answered',
  outcome: outcome as LookupOutcome,
})

type Happening = readonly [ms: number, event: WatchEvent, isOffline?: boolean]

/** The state after these events, and the number of lookups. */
function run(...events: readonly Happening[]) {
  let state: WatchState = NOTHING_KNOWN
  let askCount = 0
  for (const [ms, event, isOffline] of events) {
    const stepped = step(state, event, { now: at(ms, isOffline), limits })
    state = stepped.state
    if (stepped.asks) askCount++
  }
  return { state, askCount, kindAt: (ms: number) => view(state, at(ms), limits)?.kind ?? null }
}
const tick = { kind: 'tick' } as const
const wake = { kind: 'wake' } as const

describe('a name that is watched', () => {
  it('is looked up at once, then every `pollMs`, one request at a time', () => {
    expect(run([0, tick]).askCount).toBe(1)
    expect(run([0, tick], [900, tick]).askCount).toBe(1)
    const known = [
      [0, tick],
      [10, answered(found(0))],
    ] as const
    expect(run(...known, [259, tick]).askCount).toBe(1)
    expect(run(...known, [260, tick]).askCount).toBe(2)
    expect(nextTickMs(run(...known).state, at(10), limits)).toBe(START_MS + 260)
  })

  it('is verified only while the answer is recent by record time, and then has a reason', () => {
    const { kindAt, state } = run([0, tick], [10, answered(found(-10_000))])
    expect(kindAt(50_000)).toBe('verified')
    expect(view(state, at(50_001), limits)).toMatchObject({ kind: 'unverified', reason: 'stale' })
    expect(view(state, at(50_001, true), limits)).toMatchObject({ reason: 'offline' })
    expect(view(state, at(50_000, true), limits)).toMatchObject({ kind: 'verified' })
  })

  it('is expired from the end of its entry on, and looked up at that time', () => {
    const { kindAt, state } = run([0, tick], [10, answered(found(0, 100))])
    expect(kindAt(99)).toBe('verified')
    expect(kindAt(100)).toBe('expired')
    expect(nextTickMs(state, at(10), limits)).toBe(START_MS + 100)
    expect(step(state, tick, { now: at(100), limits }).asks).toBe(true)
    // The answer may be from before the end: it is read again, but not in a tight loop.
    const still = run(
      [0, tick],
      [10, answered(found(0, 100))],
      [100, tick],
      [105, answered(found(0, 100))],
    )
    expect(step(still.state, tick, { now: at(1104), limits }).asks).toBe(false)
    expect(step(still.state, tick, { now: at(1105), limits }).asks).toBe(true)
  })

  it('keeps its answer while nodes are unreachable, until it is too old; a dispute ends it at once', () => {
    const gone = run([0, tick], [10, answered(found(0))], [260, tick], [270, answered(away)])
    expect(gone.kindAt(60_000)).toBe('verified')
    expect(gone.kindAt(60_001)).toBe('insufficient')
    const forked = run(
      [0, tick],
      [10, answered(found(0))],
      [20, answered({ ...away, kind: 'disputed' })],
    )
    expect(forked.kindAt(21)).toBe('disputed')
  })

  it.each<WatchEvent>([answered(away), { kind: 'failed', error: failure(null) }])(
    'is offline, and blames no node until a later request has failed, too: $kind',
    (failed) => {
      const known = [
        [0, tick],
        [10, answered(found(-60_000))],
        [300, tick, true],
      ] as const
      const seenAt = (ms: number, ...events: readonly Happening[]) =>
        view(run(...known, ...events).state, at(ms), limits)
      const isOffline = { kind: 'unverified', reason: 'offline' }
      expect(seenAt(400, [390, failed, true])).toMatchObject(isOffline)
      expect(seenAt(400, [390, failed])).toMatchObject(isOffline)
      expect(seenAt(400, [320, failed, true], [350, wake])).toMatchObject(isOffline)
      expect(seenAt(900, [310, wake], [390, failed, true])).toMatchObject(isOffline)
      expect(seenAt(400, [320, failed, true], [350, wake], [390, failed])).not.toMatchObject(
        isOffline,
      )
      // A lookup from before the device was offline is repeated.
      expect(run(...known, [310, wake]).askCount).toBe(3)
      expect(run(...known, [310, wake, true]).askCount).toBe(2)
    },
  )

  it.each([
    [null, 1000],
    [200, 1000],
    [2500, 2500],
    [60_000, 15_000],
  ])('without an answer, with %s ms to wait, is looked up again after %s', (retryAfterMs, ms) => {
    for (const event of [
      answered({ ...away, retryAfterMs }),
      { kind: 'failed', error: failure(retryAfterMs) },
    ] as const) {
      const { state } = run([0, tick], [10, event])
      expect(step(state, tick, { now: at(9 + ms), limits }).asks).toBe(false)
      expect(step(state, tick, { now: at(10 + ms), limits }).asks).toBe(true)
    }
  })

  it('is looked up less and less often while nodes are dead, and at the usual pace again with an answer', () => {
    let ms = 0
    let { state } = run([ms, tick])
    const pauses: number[] = []
    for (let count = 0; count < 6; count++) {
      state = step(state, answered(away), { now: at(ms), limits }).state
      const dueMs = nextTickMs(state, at(ms), limits) - START_MS
      pauses.push(dueMs - ms)
      ms = dueMs
      const stepped = step(state, tick, { now: at(ms), limits })
      expect(stepped.asks).toBe(true)
      state = stepped.state
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000])
    state = step(state, answered(found(ms)), { now: at(ms), limits }).state
    expect(nextTickMs(state, at(ms), limits)).toBe(START_MS + ms + limits.pollMs)
    state = step(step(state, tick, { now: at(ms + 250), limits }).state, answered(away), {
      ...{ now: at(ms + 250), limits },
    }).state
    expect(step(state, tick, { now: at(ms + 1250), limits }).asks).toBe(true)
  })

  it('is not looked up while the page is hidden, except once, and at once when it is shown', () => {
    const inBackground = step(NOTHING_KNOWN, tick, { now: at(0, false, true), limits })
    expect(inBackground.asks).toBe(true)
    const { state } = run([0, tick], [10, answered(found(0))])
    const hidden = step(state, tick, { now: at(30_000, false, true), limits })
    expect(hidden.asks).toBe(false)
    expect(view(hidden.state, at(60_001, false, true), limits)).toMatchObject({ reason: 'stale' })
    expect(step(hidden.state, wake, { now: at(30_000), limits }).asks).toBe(true)
    expect(step(hidden.state, tick, { now: at(30_000), limits }).asks).toBe(true)
  })

  it('is looked up at once after a sleep, also during a request, but not twice in a moment', () => {
    expect(run([0, tick], [100_000, wake]).askCount).toBe(2)
    expect(
      run([0, tick], [10, answered(found(0))], [100_000, wake], [100_100, wake]).askCount,
    ).toBe(2)
  })

  it('is looked up soon if the clock was set back', () => {
    expect(run([0, tick], [10, answered(found(0))], [-3_600_000, tick]).askCount).toBe(2)
  })
})

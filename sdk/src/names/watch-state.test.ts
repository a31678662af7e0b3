/** What a name that is watched shows, and when it is asked for again. */
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, QuorumscanError } from '../errors.ts'
import { parseParty } from '../platform/parse-party.ts'
import type { NameChange } from './lookup-types.ts'
import {
  isSame,
  nextTickMs,
  nothingKnown,
  type Reading,
  step,
  view,
  type WatchEvent,
  type WatchState,
} from './watch-state.ts'

const START_MS = 1_700_000_000_000
const limits = { maxAgeMs: 60_000, pollMs: 250 }
const at = (ms: number, isOffline = false, isHidden = false) => ({
  ms: START_MS + ms,
  monotonicMs: ms,
  isOffline,
  isHidden,
})
const textOf = (ms: number) => formatInstant((START_MS + ms) * 1000)
const found = (
  recordMs: number,
  expiresMs: number | null = null,
  more: Partial<Reading<string>> = {},
): Reading<string> => ({
  value: 'alice::1220',
  basis: 'proof',
  recordTime: textOf(recordMs),
  validUntil: expiresMs === null ? null : textOf(expiresMs),
  clockSkewMs: null,
  changed: null,
  ...more,
})
const CHANGE: NameChange = {
  name: 'a.unverified.ns',
  previousParty: parseParty(`mallory::1220${'b'.repeat(64)}`),
  previousSeenAt: textOf(-1),
  party: parseParty(`alice::1220${'a'.repeat(64)}`),
  seenAt: textOf(0),
}
const failed = (code: ErrorCode, retryAfterMs: number | null = null): WatchEvent<string> => ({
  kind: 'failed',
  error: new QuorumscanError('no', { code, definite: true, retryable: true, retryAfterMs }),
})
const away = failed('NOT_ENOUGH_NODES')
const answered = (reading: Reading<string>): WatchEvent<string> => ({ kind: 'answered', reading })

type Happening = readonly [ms: number, event: WatchEvent<string>, isOffline?: boolean]

/** The state after these events, and the number of lookups. */
function run(...events: readonly Happening[]) {
  let state: WatchState<string> = nothingKnown()
  let askCount = 0
  for (const [ms, event, isOffline] of events) {
    const stepped = step(state, event, { now: at(ms, isOffline), limits })
    state = stepped.state
    if (stepped.asks) askCount++
  }
  const shownAt = (ms: number, isOffline = false) => {
    const shown = view(state, at(ms, isOffline), limits)
    const { kind } = shown
    return 'error' in shown ? `${kind} ${shown.error?.code ?? null}` : kind
  }
  return { state, askCount, shownAt }
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

  it('is proven only while the answer is recent by record time, and then stale, with the reason', () => {
    const { shownAt, state } = run([0, tick], [10, answered(found(-10_000))])
    expect(shownAt(50_000)).toBe('proven')
    expect(shownAt(50_001)).toBe('stale null')
    expect(shownAt(50_001, true)).toBe('stale OFFLINE')
    expect(shownAt(50_000, true)).toBe('proven')
    // It may be shown.
    expect(view(state, at(50_001), limits)).toMatchObject({ value: 'alice::1220' })
  })

  it('ages by the longer time: the wall clock may be set back, and the other one stops in a sleep', () => {
    const { state } = run([0, tick], [10, answered(found(0))])
    const kindAt = (ms: number, monotonicMs: number) =>
      view(state, { ...at(ms), monotonicMs }, limits).kind
    expect(kindAt(-3_600_000, 60_000)).toBe('proven')
    expect(kindAt(-3_600_000, 60_001)).toBe('stale')
    expect(kindAt(60_001, 10)).toBe('stale')
  })

  it('ages, and ends, by proven time on a device whose clock is behind', () => {
    const skewed = { clockSkewMs: 300_000 }
    const { shownAt } = run([0, tick], [10, answered(found(300_000, 330_000, skewed))])
    expect(shownAt(29_999)).toBe('proven')
    expect(shownAt(30_000)).toBe('failed NAME_EXPIRED')
    const endless = run([0, tick], [10, answered(found(300_000, null, skewed))])
    expect([endless.shownAt(60_000), endless.shownAt(60_001)]).toEqual(['proven', 'stale null'])
  })

  it('without a record time ages from arrival', () => {
    const { shownAt } = run([0, tick], [10, answered(found(0, null, { recordTime: null }))])
    expect([shownAt(60_010), shownAt(60_011)]).toEqual(['proven', 'stale null'])
  })

  it('has expired from the end of its entry on, and is looked up at that time', () => {
    const { shownAt, state } = run([0, tick], [10, answered(found(0, 100))])
    expect(shownAt(99)).toBe('proven')
    expect(shownAt(100)).toBe('failed NAME_EXPIRED')
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

  it('shows a change of owner, and the absence of one', () => {
    const changed = run([0, tick], [10, answered(found(0, null, { changed: CHANGE }))])
    expect(view(changed.state, at(11), limits)).toEqual({
      kind: 'changed',
      value: 'alice::1220',
      previous: CHANGE,
    })
    const absent = run([0, tick], [10, answered(found(0, null, { value: null }))])
    expect(view(absent.state, at(11), limits)).toMatchObject({ kind: 'proven', value: null })
  })

  it('keeps its answer while nodes are unreachable, until it is too old', () => {
    const gone = run([0, tick], [10, answered(found(0))], [260, tick], [270, away])
    expect(gone.shownAt(60_000)).toBe('proven')
    expect(gone.shownAt(60_001)).toBe('stale NOT_ENOUGH_NODES')
  })

  it.each<ErrorCode>([
    'CONSENSUS_DISPUTED',
    'NAME_EXPIRED',
    'NAME_MISMATCH',
    'NAME_AMBIGUOUS',
    'NAME_CLAIMED',
  ])('%s ends the answer at once, and the pauses do not grow', (code) => {
    const ended = run([0, tick], [10, answered(found(0))], [20, failed(code)], [1020, failed(code)])
    expect(ended.shownAt(1021)).toBe(`failed ${code}`)
    expect(nextTickMs(ended.state, at(1021), limits)).toBe(START_MS + 2020)
  })

  it('is offline, and blames no node until a later request has failed, too', () => {
    const known = [
      [0, tick],
      [10, answered(found(-60_000))],
      [300, tick, true],
    ] as const
    const seenAt = (ms: number, ...events: readonly Happening[]) =>
      run(...known, ...events).shownAt(ms)
    expect(seenAt(400, [390, away, true])).toBe('stale OFFLINE')
    expect(seenAt(400, [390, away])).toBe('stale OFFLINE')
    expect(seenAt(400, [320, away, true], [350, wake])).toBe('stale OFFLINE')
    expect(seenAt(900, [310, wake], [390, away, true])).toBe('stale OFFLINE')
    expect(seenAt(400, [320, away, true], [350, wake], [390, away])).toBe('stale NOT_ENOUGH_NODES')
    expect(run([0, tick, true], [10, away, true]).shownAt(11)).toBe('failed OFFLINE')
    // A lookup from before the device was offline is repeated.
    expect(run(...known, [310, wake]).askCount).toBe(3)
    expect(run(...known, [310, wake, true]).askCount).toBe(2)
  })

  it.each([
    [null, 1000],
    [200, 1000],
    [2500, 2500],
    [60_000, 15_000],
  ])('without an answer, with %s ms to wait, is looked up again after %s', (retryAfterMs, ms) => {
    const { state } = run([0, tick], [10, failed('TIMEOUT', retryAfterMs)])
    expect(step(state, tick, { now: at(9 + ms), limits }).asks).toBe(false)
    expect(step(state, tick, { now: at(10 + ms), limits }).asks).toBe(true)
  })

  it('is looked up less and less often while nodes are dead, and at the usual pace again with an answer', () => {
    let ms = 0
    let { state } = run([ms, tick])
    const pauses: number[] = []
    for (let count = 0; count < 6; count++) {
      state = step(state, away, { now: at(ms), limits }).state
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
    state = step(step(state, tick, { now: at(ms + 250), limits }).state, away, {
      now: at(ms + 250),
      limits,
    }).state
    expect(step(state, tick, { now: at(ms + 1250), limits }).asks).toBe(true)
  })

  it('is not looked up while the page is hidden, except once, and at once when it is shown', () => {
    const inBackground = step(nothingKnown<string>(), tick, { now: at(0, false, true), limits })
    expect(inBackground.asks).toBe(true)
    const { state } = run([0, tick], [10, answered(found(0))])
    const hidden = step(state, tick, { now: at(30_000, false, true), limits })
    expect(hidden.asks).toBe(false)
    expect(view(hidden.state, at(60_001, false, true), limits)).toMatchObject({ kind: 'stale' })
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

it('a newer record time alone is not shown', () => {
  const shownOf = (reading: Reading<string>) =>
    view(run([0, tick], [10, answered(reading)]).state, at(11), limits)
  expect(isSame(shownOf(found(0)), shownOf(found(5)))).toBe(true)
  expect(isSame(shownOf(found(0)), shownOf(found(0, null, { value: 'bob' })))).toBe(false)
  expect(isSame(shownOf(found(0)), shownOf(found(0, null, { basis: 'proxy' })))).toBe(false)
  expect(isSame(shownOf(found(0)), shownOf(found(0, 9000)))).toBe(false)
})

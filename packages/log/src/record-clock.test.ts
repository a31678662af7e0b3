import type { ClockComparison } from '@quorumscan/runtime'
import { describe, expect, it } from 'vitest'
import { type LastAgreement, stepRecordClock } from './record-clock.ts'

const START = 1_700_000_000_000_000
const SECOND = 1_000_000
const DAY = 86_400 * SECOND
const agrees: ClockComparison = { kind: 'agrees', skewMicros: 0 }
const unknown: ClockComparison = { kind: 'unknown' }
const off: ClockComparison = { kind: 'off', skewMicros: 30 * DAY }

/** Plays `[seconds of monotonic time, seconds by which the wall clock is off, verdict]`. */
function play(events: readonly [number, number, ClockComparison][], last = START - DAY) {
  let agreed: LastAgreement = null
  let newest = last
  return events.map(([second, offSeconds, verdict]) => {
    const wallMicros = START + (second + offSeconds) * SECOND
    const now = { wallMicros, monotonicMs: second * 1000 }
    const step = stepRecordClock(agreed, { now, verdict, last: newest })
    agreed = step.agreed
    if (step.pause !== null) return step.pause.kind
    newest = step.recordTime
    return (newest - START) / SECOND
  })
}

describe('record time', () => {
  it('is given once enough nodes agree, and continues with monotonic time if no node answers', () => {
    expect(
      play([
        [0, 0, unknown],
        [1, 0, agrees],
        [2, 0, unknown],
        [3000, 1, unknown],
      ]),
    ).toEqual(['unconfirmed', 1, 2, 3001])
  })

  it('stops at a jump in either direction if no node answers, and stays so when the clock is set back', () => {
    for (const jump of [30 * 86_400, -600, 2.1, -2.1])
      expect(
        play([
          [0, 0, agrees],
          [1, jump, unknown],
          [2, jump, unknown],
          [3, 0, unknown],
          [4, 0, agrees],
        ]),
        String(jump),
      ).toEqual([0, 'off', 'unconfirmed', 'unconfirmed', 4])
  })

  it('continues after a machine slept, once enough nodes agree', () => {
    expect(
      play([
        [0, 0, agrees],
        [1, 28_800, unknown],
        [2, 28_800, agrees],
      ]),
    ).toEqual([0, 'off', 28_802])
  })

  it('is not given while enough nodes say otherwise, also without a jump', () => {
    expect(
      play([
        [0, 0, agrees],
        [1, 0, off],
        [2, 0, unknown],
        [3, 0, agrees],
      ]),
    ).toEqual([0, 'off', 'unconfirmed', 3])
  })

  it('notices steps that are small, one after the other', () => {
    expect(
      play([
        [0, 0, agrees],
        [1, 0.9, unknown],
        [2, 1.8, unknown],
        [3, 2.7, unknown],
      ]),
    ).toEqual([0, 1.9, 3.8, 'off'])
  })

  it('rises by a microsecond while the clock does not advance, and waits for a clock that lags the log by far', () => {
    expect(play([[0, 0, agrees]], START + SECOND)).toEqual([1 + 1 / SECOND])
    expect(
      play(
        [
          [0, 0, agrees],
          [58, 0, agrees],
        ],
        START + 60 * SECOND,
      ),
    ).toEqual(['log-ahead', 60 + 1 / SECOND])
  })
})

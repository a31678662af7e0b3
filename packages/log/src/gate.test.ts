import { isScanError, type ScanError } from '@quorumscan/errors'
import type { ClockReading } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createLogGate, judgeEnd } from './gate.ts'

const START = 1_700_000_000_000_000
/** For a network of four nodes. */
const four = { confirmationsMin: 2, answersExpected: 3 }
const judge = (heads: number[], end: number, waitedMs = 0) =>
  judgeEnd({ heads, end, confirmingNodes: four, waitedMs })

describe('the length of the log', () => {
  it('is confirmed when n − f nodes report no more than the log holds', () => {
    expect(judge([0, 0, 0], 0)).toEqual({ kind: 'whole' })
    expect(judge([10, 9, 0], 10)).toEqual({ kind: 'whole' })
  })

  it('is too short when f + 1 nodes have applied more', () => {
    expect(judge([120, 118], 0)).toEqual({ kind: 'shorter', count: 2, head: 118 })
    expect(judge([0, 0, 120, 118], 10, 60_000)).toMatchObject({ kind: 'shorter' })
  })

  it('waits 10 s for n − f nodes, then for f + 1, and longer while one node reports more', () => {
    expect(judge([0, 0], 0)).toEqual({ kind: 'wait' })
    expect(judge([0, 0], 0, 10_000)).toEqual({ kind: 'whole' })
    expect(judge([0], 0, 60_000)).toEqual({ kind: 'wait' })
    expect(judge([0, 120], 0, 60_000)).toEqual({ kind: 'wait' })
  })

  it('is confirmed although one node claims to have applied more', () => {
    expect(judge([0, 0, 0, 1_000_000], 0)).toEqual({ kind: 'whole' })
  })
})

describe('the gate of the log', () => {
  const world = (count: number, head = 0) => {
    const clock = createManualClock(START)
    let offMicros = 0
    let answering = count
    const readings = (): ClockReading[] =>
      Array.from({ length: answering }, (_, index) => ({
        peer: `sv-${index + 1}`,
        wallMicros: clock.nowMicros(),
        atMs: clock.monotonicMs(),
        head,
      }))
    const gate = createLogGate({
      clock: { ...clock, nowMicros: () => clock.nowMicros() + offMicros },
      confirmingNodes: { ...four, readings },
    })
    return {
      look: (offset: number, recordTime = START - 1) => gate.next({ offset, recordTime }),
      refusal: (offset: number) => gate.refusal({ offset, recordTime: START - 1 }),
      answer: (nodes: number) => {
        answering = nodes
      },
      setAhead: (seconds: number) => {
        offMicros = seconds * 1_000_000
      },
    }
  }
  const refusalOf = (looked: number | ScanError) => {
    if (!isScanError(looked)) throw new Error('the gate returned a record time')
    return { code: looked.code, message: looked.message }
  }

  it('returns increasing record times', () => {
    const { look } = world(3)
    expect([look(0), look(1, START)]).toEqual([START, START + 1])
  })

  it('refuses with CLOCK_OFF and the offset of the clock, and continues once the clock is right', () => {
    const { look, setAhead } = world(3)
    look(0)
    setAhead(30 * 86_400)
    expect(refusalOf(look(1))).toEqual({
      code: 'CLOCK_OFF',
      message: expect.stringContaining("The synchronizer's clock is 2592000 s ahead"),
    })
    setAhead(0)
    expect(look(1)).toBe(START)
  })

  it('returns the same record times however often `refusal` is called', () => {
    const { look, refusal, answer, setAhead } = world(3)
    expect(look(0)).toBe(START)
    answer(0)
    setAhead(30)
    expect(refusal(1)?.code).toBe('CLOCK_OFF')
    setAhead(0)
    expect(look(1)).toBe(START)

    const later = world(3)
    expect(later.refusal(0)).toBe(null)
    later.answer(0)
    expect(refusalOf(later.look(0)).code).toBe('CLOCK_OFF')
  })

  it('refuses with LOG_REGRESSED while the nodes have applied more than the log holds', () => {
    const { look } = world(3, 120)
    expect(refusalOf(look(0))).toEqual({
      code: 'LOG_REGRESSED',
      message: expect.stringContaining('The log ends at offset 0, but 3 nodes have applied it'),
    })
    expect(look(120)).toBe(START)
  })

  it('refuses with CLOCK_OFF or NOT_READY while too few nodes answer', () => {
    expect(refusalOf(world(1).look(0)).code).toBe('CLOCK_OFF')
    expect(refusalOf(world(2).look(0)).code).toBe('NOT_READY')
  })
})

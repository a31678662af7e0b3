import { isScanError, type ScanError } from '@quorumscan/errors'
import type { ClockReading } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createLogGate, judgeEnd } from './gate.ts'

const START = 1_700_000_000_000_000
/** Of four nodes. */
const four = { needed: 2, enough: 3 }
const judge = (heads: number[], end: number, waitedMs = 0) =>
  judgeEnd({ heads, end, witnesses: four, waitedMs })

describe('whether the log is as long as its followers know', () => {
  it('is, when as many say so as cannot all be wrong', () => {
    expect(judge([0, 0, 0], 0)).toEqual({ kind: 'whole' })
    expect(judge([10, 9, 0], 10)).toEqual({ kind: 'whole' })
  })

  it('is not, when as many have applied more as cannot all be liars', () => {
    expect(judge([120, 118], 0)).toEqual({ kind: 'shorter', count: 2, head: 118 })
    expect(judge([0, 0, 120, 118], 10, 60_000)).toMatchObject({ kind: 'shorter' })
  })

  it('waits for more nodes for a while, and for ever while the only evidence is against it', () => {
    expect(judge([0, 0], 0)).toEqual({ kind: 'wait' })
    expect(judge([0, 0], 0, 10_000)).toEqual({ kind: 'whole' })
    expect(judge([0], 0, 60_000)).toEqual({ kind: 'wait' })
    expect(judge([0, 120], 0, 60_000)).toEqual({ kind: 'wait' })
  })

  it('is not stopped by one that claims too much', () => {
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
      witnesses: { ...four, readings },
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
    if (!isScanError(looked)) throw new Error('a record time was given')
    return { code: looked.code, message: looked.message }
  }

  it('gives record times that rise', () => {
    const { look } = world(3)
    expect([look(0), look(1, START)]).toEqual([START, START + 1])
  })

  it('names the clock and by how much it is off, and continues when it is right', () => {
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

  it('gives the same record times, however often its refusal is read', () => {
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

  it('does not start a log again that its followers know to be longer', () => {
    const { look } = world(3, 120)
    expect(refusalOf(look(0))).toEqual({
      code: 'LOG_REGRESSED',
      message: expect.stringContaining('The log ends at offset 0, but 3 nodes have applied it'),
    })
    expect(look(120)).toBe(START)
  })

  it('waits while too few answer', () => {
    expect(refusalOf(world(1).look(0)).code).toBe('CLOCK_OFF')
    expect(refusalOf(world(2).look(0)).code).toBe('NOT_READY')
  })
})

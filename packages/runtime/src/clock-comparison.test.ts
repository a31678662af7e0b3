import { describe, expect, it } from 'vitest'
import { type ClockReading, compareClock, describeClockSkew } from './clock-comparison.ts'

const NOW = { wallMicros: 1_700_000_000_000_000, monotonicMs: 50_000 }

/** Peers whose clocks are ahead of this process's by these seconds, read a second ago. */
const readings = (...aheadSeconds: number[]): ClockReading[] =>
  aheadSeconds.map((seconds, index) => ({
    peer: `sv-${index + 1}`,
    wallMicros: NOW.wallMicros - 1_000_000 + seconds * 1_000_000,
    atMs: NOW.monotonicMs - 1000,
    head: null,
  }))
const judge = (...aheadSeconds: number[]) =>
  compareClock({ readings: readings(...aheadSeconds), now: NOW, needed: 2 })

describe('judging the local clock', () => {
  it('agrees when the needed number of peers does, whatever the others say', () => {
    expect(judge(0, 1.5, 600, -600)).toEqual({ kind: 'agrees', skewMicros: 0 })
    expect(judge(2, -2)).toMatchObject({ kind: 'agrees' })
  })

  it('is off when the needed number of peers disagrees, and fewer agree', () => {
    expect(judge(600, 600, 600, 0)).toEqual({ kind: 'off', skewMicros: -600_000_000 })
    expect(judge(-2.1, -2.2)).toMatchObject({ kind: 'off' })
  })

  it('is unknown when too few answered, or too long ago', () => {
    expect(judge(0)).toEqual({ kind: 'unknown' })
    expect(judge(600, 0)).toEqual({ kind: 'unknown' })
    const later = { wallMicros: NOW.wallMicros + 30e6, monotonicMs: NOW.monotonicMs + 30_000 }
    expect(compareClock({ readings: readings(0, 0, 0), now: later, needed: 2 })).toEqual({
      kind: 'unknown',
    })
  })

  it('shows at once, by earlier readings, that the local wall clock was set', () => {
    const jumped = { ...NOW, wallMicros: NOW.wallMicros + 86_400_000_000 }
    expect(compareClock({ readings: readings(0, 0, 0), now: jumped, needed: 2 })).toEqual({
      kind: 'off',
      skewMicros: 86_400_000_000,
    })
  })

  it('describes an offset', () => {
    expect(describeClockSkew(-600_400_000, 'the log')).toBe('600 s behind the log')
    expect(describeClockSkew(2_600_000, 'the log')).toBe('3 s ahead of the log')
  })
})

import { setImmediate } from 'node:timers/promises'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { keepRunning } from './keep-running.ts'

const POLICY = { minMs: 100, maxMs: 10_000, factor: 4, lastedMs: 15_000 }

function setUp(start: (count: number) => void = () => {}) {
  const clock = createManualClock(0)
  const starts: number[] = []
  const ends: [string, string, number][] = []
  const kept = keepRunning({
    clock,
    policy: POLICY,
    start: async () => {
      starts.push(clock.monotonicMs())
      start(starts.length)
    },
    onEnd: (...end) => ends.push(end),
  })
  return { clock, kept, starts, ends }
}

describe('keepRunning', () => {
  it('restarts with growing pauses what does not last, and with the shortest one what lasted', async () => {
    const { clock, kept, starts, ends } = setUp()
    const end = async () => {
      const count = starts.length
      kept.noteEnd('sv-1', 'SIGKILL')
      while (starts.length === count) await clock.advance(100)
    }
    for (let count = 0; count < 5; count++) await end()
    expect(kept.isHopeless('sv-1')).toBe(true)
    expect([kept.isHopeless('sv-2'), kept.endOf('sv-2')]).toEqual([false, null])
    await clock.advance(POLICY.lastedMs)
    expect([kept.isHopeless('sv-1'), kept.endOf('sv-1')]).toEqual([false, null])
    await end()
    expect(kept.endOf('sv-1')).toBe('SIGKILL')
    expect(ends.map(([, , delayMs]) => delayMs)).toEqual([100, 400, 1600, 6400, 10_000, 100])
    expect(starts).toEqual([100, 500, 2100, 8500, 18_500, 33_600])
  })

  it('counts a start that fails as an exit', async () => {
    const { clock, kept, starts, ends } = setUp((count) => {
      if (count === 1) throw new Error('the disk is full')
    })
    kept.noteEnd('sv-1', 'exit 1')
    await clock.advance(1000)
    expect(starts).toEqual([100, 500])
    expect(ends[1]).toEqual(['sv-1', 'the disk is full', 400])
  })

  it('`begin` starts the process at once, and counts a failure of that, too', async () => {
    const { clock, kept, starts } = setUp((count) => {
      if (count === 1) throw new Error('the disk is full')
    })
    kept.begin('sv-1')
    expect(starts).toEqual([0])
    await setImmediate() // The failure.
    await clock.advance(100)
    expect([starts, kept.endOf('sv-1')]).toEqual([[0, 100], 'the disk is full'])
  })

  it('starts with the shortest pause again after `forget`', async () => {
    const { clock, kept, ends } = setUp()
    kept.noteEnd('sv-1', 'exit 1')
    await clock.advance(100)
    kept.forget('sv-1')
    kept.noteEnd('sv-1', 'exit 1')
    expect(ends.map(([, , delayMs]) => delayMs)).toEqual([100, 100])
  })

  it('counts how long a process has lasted from its start, not from the exit before it', async () => {
    const { clock, kept } = setUp()
    for (let count = 0; count < 5; count++) kept.noteEnd('sv-1', 'SIGKILL')
    await clock.advance(POLICY.maxMs)
    await clock.advance(POLICY.lastedMs - 1)
    expect(kept.endOf('sv-1')).toBe('SIGKILL')
    await clock.advance(1)
    expect(kept.endOf('sv-1')).toBe(null)
  })

  it('restarts nothing once it is disposed of', async () => {
    const { clock, kept, starts } = setUp()
    kept.noteEnd('sv-1', 'SIGKILL')
    await kept[Symbol.asyncDispose]()
    kept.noteEnd('sv-2', 'SIGKILL')
    await clock.advance(20_000)
    expect(starts).toEqual([])
  })
})

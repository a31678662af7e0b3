import { setImmediate } from 'node:timers/promises'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { keepRunning } from './keep-running.ts'

const POLICY = { minMs: 100, maxMs: 10_000, factor: 4 }
const STABLE_MS = 15_000

function setUp(start: (count: number) => void = () => {}) {
  const clock = createManualClock(0)
  const starts: number[] = []
  const ends: [string, string, number][] = []
  const restarts = keepRunning({
    clock,
    policy: POLICY,
    start: async () => {
      starts.push(clock.monotonicMs())
      start(starts.length)
    },
    onExit: (...end) => ends.push(end),
  })
  return { clock, restarts, starts, ends }
}

describe('keepRunning', () => {
  it('restarts with exponential backoff, and with the shortest pause after a stable run', async () => {
    const { clock, restarts, starts, ends } = setUp()
    const end = async () => {
      const count = starts.length
      restarts.recordExit('sv-1', 'SIGKILL')
      while (starts.length === count) await clock.advance(100)
    }
    for (let count = 0; count < 5; count++) await end()
    expect(restarts.isCrashLooping('sv-1')).toBe(true)
    expect([restarts.isCrashLooping('sv-2'), restarts.exitOf('sv-2')]).toEqual([false, null])
    await clock.advance(STABLE_MS)
    expect([restarts.isCrashLooping('sv-1'), restarts.exitOf('sv-1')]).toEqual([false, null])
    await end()
    expect(restarts.exitOf('sv-1')).toBe('SIGKILL')
    expect(ends.map(([, , delayMs]) => delayMs)).toEqual([100, 400, 1600, 6400, 10_000, 100])
    expect(starts).toEqual([100, 500, 2100, 8500, 18_500, 33_600])
  })

  it('counts a start that fails as an exit', async () => {
    const { clock, restarts, starts, ends } = setUp((count) => {
      if (count === 1) throw new Error('the disk is full')
    })
    restarts.recordExit('sv-1', 'exit 1')
    await clock.advance(1000)
    expect(starts).toEqual([100, 500])
    expect(ends[1]).toEqual(['sv-1', 'the disk is full', 400])
  })

  it('starts the process at once by `begin`, and counts a failed start as an exit', async () => {
    const { clock, restarts, starts } = setUp((count) => {
      if (count === 1) throw new Error('the disk is full')
    })
    restarts.begin('sv-1')
    expect(starts).toEqual([0])
    await setImmediate() // The failure.
    await clock.advance(100)
    expect([starts, restarts.exitOf('sv-1')]).toEqual([[0, 100], 'the disk is full'])
  })

  it('starts with the shortest pause again after `forget`', async () => {
    const { clock, restarts, ends } = setUp()
    restarts.recordExit('sv-1', 'exit 1')
    await clock.advance(100)
    restarts.forget('sv-1')
    restarts.recordExit('sv-1', 'exit 1')
    expect(ends.map(([, , delayMs]) => delayMs)).toEqual([100, 100])
  })

  it('measures a stable run from the start of the process, not from the previous exit', async () => {
    const { clock, restarts } = setUp()
    for (let count = 0; count < 5; count++) restarts.recordExit('sv-1', 'SIGKILL')
    await clock.advance(POLICY.maxMs)
    await clock.advance(STABLE_MS - 1)
    expect(restarts.exitOf('sv-1')).toBe('SIGKILL')
    await clock.advance(1)
    expect(restarts.exitOf('sv-1')).toBe(null)
  })

  it('restarts nothing once it is disposed of', async () => {
    const { clock, restarts, starts } = setUp()
    restarts.recordExit('sv-1', 'SIGKILL')
    await restarts[Symbol.asyncDispose]()
    restarts.recordExit('sv-2', 'SIGKILL')
    await clock.advance(20_000)
    expect(starts).toEqual([])
  })
})

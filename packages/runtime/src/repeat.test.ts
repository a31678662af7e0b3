import { setImmediate } from 'node:timers/promises'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { repeat } from './repeat.ts'

const EVERY_MS = 100

/** Runs that note when they come. */
async function setUp(options: Partial<Parameters<typeof repeat>[1]> & { fails?: number } = {}) {
  const clock = createManualClock(0)
  const atMs: number[] = []
  const errors: unknown[] = []
  const run = () => {
    atMs.push(clock.monotonicMs())
    if (atMs.length === options.fails) throw new Error(`run ${atMs.length}`)
  }
  const onError = (error: unknown) => errors.push(error)
  const repetition = repeat(run, { clock, everyMs: EVERY_MS, onError, ...options })
  await setImmediate() // The first run.
  return { clock, atMs, errors, repetition }
}

describe('repeat', () => {
  it('runs at once, or after a pause, and then each time a pause after a run', async () => {
    for (const [waitsFirst, expected] of [
      [false, [0, 100, 200]],
      [true, [100, 200]],
    ] as const) {
      const { clock, atMs, repetition } = await setUp({ waitsFirst })
      await clock.advance(2.5 * EVERY_MS)
      expect(atMs).toEqual(expected)
      await repetition[Symbol.asyncDispose]()
    }
  })

  it('continues after an error of a run, and reports it', async () => {
    const { clock, atMs, errors, repetition } = await setUp({ fails: 2 })
    await clock.advance(2 * EVERY_MS)
    expect(errors).toEqual([new Error('run 2')])
    expect(atMs).toEqual([0, 100, 200])
    await repetition[Symbol.asyncDispose]()
  })

  it('calls everyMs for the pause after each run', async () => {
    const pausesMs = [10, 30]
    const { clock, atMs, repetition } = await setUp({ everyMs: () => pausesMs.shift() ?? 1000 })
    await clock.advance(500)
    expect(atMs).toEqual([0, 10, 40])
    await repetition[Symbol.asyncDispose]()
  })

  it('ends in a pause or a run, by signal or disposal, without a report', async () => {
    const byEnd = {
      signal: (over: AbortController) => over.abort(),
      disposed: (_: AbortController, one: AsyncDisposable) => one[Symbol.asyncDispose](),
    }
    for (const end of Object.values(byEnd))
      for (const isRunning of [false, true]) {
        const clock = createManualClock(0)
        const over = new AbortController()
        const errors: unknown[] = []
        let count = 0
        const work = async (signal: AbortSignal) => {
          count++
          if (isRunning) await clock.delay(1, signal)
        }
        const { signal } = over
        const options = {
          clock,
          everyMs: EVERY_MS,
          signal,
          onError: (error: unknown) => errors.push(error),
        }
        const repetition = repeat(work, options)
        await setImmediate()
        void end(over, repetition)
        await repetition.ended
        expect([count, errors]).toEqual([1, []])
      }
  })

  it('rejects with what its error handler throws, or a run without a handler', async () => {
    const onError = (error: unknown) => {
      throw error
    }
    const options = { clock: createManualClock(0), everyMs: EVERY_MS }
    const fail = () => Promise.reject(new Error('run 1'))
    for (const one of [options, { ...options, onError }])
      await expect(repeat(fail, one).ended).rejects.toThrow('run 1')
  })
})

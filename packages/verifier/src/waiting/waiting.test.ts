import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from './backoff.ts'
import { singleFlight } from './single-flight.ts'

describe('backoffMs', () => {
  it('grows by the factor from the shortest to the longest wait', () => {
    const waits = (factor?: number) =>
      [1, 2, 3, 4, 5, 5000].map((attempt) =>
        backoffMs(attempt, { minMs: 100, maxMs: 1000, ...(factor && { factor }) }),
      )
    expect(waits()).toEqual([100, 200, 400, 800, 1000, 1000])
    expect(waits(4)).toEqual([100, 400, 1000, 1000, 1000, 1000])
  })

  it('draws half of the wait, and never waits longer', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, fraction) => {
          const bounds = { minMs: 50, maxMs: 2000 }
          const longestMs = backoffMs(attempt, bounds)
          const drawnMs = backoffMs(attempt, { ...bounds, random: () => fraction })
          expect(drawnMs).toBeCloseTo((longestMs * (1 + fraction)) / 2)
        },
      ),
    )
  })
})

describe('singleFlight', () => {
  /** Work that the test ends. */
  function createWork() {
    const started: { key: string; end(error?: Error): void }[] = []
    const run = (key: string) =>
      new Promise<string>((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve(`${key} ${started.length}`))
        started.push({ key, end })
      })
    return { run, started }
  }

  it('shares the run of the same input, and runs again once it has ended', async () => {
    const { run, started } = createWork()
    const flight = singleFlight(run)
    const both = Promise.all([flight('a'), flight('a')])
    const other = flight('b')
    expect(started.map(({ key }) => key)).toEqual(['a', 'b'])
    for (const { end } of started) end()
    expect(await both).toEqual(['a 2', 'a 2'])
    await other
    const third = flight('a')
    started[2]?.end()
    expect(await third).toBe('a 3')
  })

  it('shares a failure, and tries again after it', async () => {
    const { run, started } = createWork()
    const flight = singleFlight(run, (input: string) => input.toLowerCase())
    const both = Promise.allSettled([flight('a'), flight('A')])
    started[0]?.end(new Error('lost'))
    expect(await both).toEqual(Array(2).fill({ status: 'rejected', reason: new Error('lost') }))
    void flight('A')
    expect(started).toHaveLength(2)
  })
})

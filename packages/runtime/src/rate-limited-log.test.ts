import { createManualClock } from '@quorumscan/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimitedLog } from './rate-limited-log.ts'

describe('createRateLimitedLog', () => {
  it('writes at most `linesMax` lines about a subject in a period, and counts all others', async () => {
    const PERIOD_MS = 100
    const steps = fc.array(
      fc.record({ subject: fc.constantFrom('a', 'b'), ms: fc.nat({ max: 60 }) }),
    )
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (script, linesMax) => {
        const clock = createManualClock(0)
        const lines = createRateLimitedLog({ clock, perSubjectMs: PERIOD_MS, linesMax })
        const written: { subject: string; atMs: number; suppressed: number }[] = []
        let pending = { a: 0, b: 0 }
        for (const { subject, ms } of script) {
          await clock.advance(ms)
          pending = { ...pending, [subject]: pending[subject as 'a' | 'b'] + 1 }
          lines.write(subject, ({ suppressed = 0 }) => {
            written.push({ subject, atMs: clock.monotonicMs(), suppressed })
            // This line, and those that it reports as suppressed.
            pending = { ...pending, [subject]: pending[subject as 'a' | 'b'] - 1 - suppressed }
          })
          expect(pending).not.toEqual(expect.objectContaining({ a: -1 }))
        }
        for (const { subject, atMs } of written) {
          const same = written.filter((one) => one.subject === subject && one.atMs >= atMs)
          const soon = same.filter((one) => one.atMs < atMs + PERIOD_MS)
          // A period begins with its first line: two of them overlap with any stretch of that length.
          expect(soon.length).toBeLessThanOrEqual(2 * linesMax)
        }
        const told = written.reduce((sum, { suppressed }) => sum + 1 + suppressed, 0)
        expect(told + pending.a + pending.b).toBe(script.length)
      }),
    )
  })

  it('one line per period: the next one as soon as it is over, with the number of suppressed lines', async () => {
    const clock = createManualClock(0)
    const lines = createRateLimitedLog({ clock, perSubjectMs: 1000 })
    const written: [number, object][] = []
    const write = () =>
      lines.write('sv-1', (suppressed) => written.push([clock.monotonicMs(), suppressed]))
    for (let count = 0; count < 5; count++) {
      write()
      await clock.advance(400)
    }
    expect(written).toEqual([
      [0, {}],
      [1200, { suppressed: 2 }],
    ])
  })

  it('writes again about a subject after `forget`', () => {
    const clock = createManualClock(0)
    const lines = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
    const written: string[] = []
    const write = (subject: string) => lines.write(subject, () => written.push(subject))
    for (const forget of [() => {}, () => lines.forget('a'), () => lines.forget()]) {
      forget()
      write('a')
      write('b')
    }
    expect(written).toEqual(['a', 'b', 'a', 'a', 'b'])
  })
})

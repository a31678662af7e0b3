/**
 * The decider alone, with its events in any order and any answers of nodes.
 * @module-tag thorough
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRun, ENDED_MS } from './testing/driven.ts'
import { script } from './testing/scripts.ts'

it('never decides wrongly, twice or too late, and respects its limits', () => {
  fc.assert(
    fc.property(script, ({ commands, ...world }) => {
      const run = createRun(world)
      for (const one of commands) run.obey(one)
      run.pass(ENDED_MS)
      expect(run.waiting.size).toBe(0)
      run.pass(ENDED_MS)
      expect(run.open.size).toBe(0)
    }),
    { numRuns: 150 },
  )
})

it('has the same effects with the same events', () => {
  fc.assert(
    fc.property(script, ({ commands, ...world }) => {
      const [first, second] = [createRun(world), createRun(world)]
      for (const one of commands) first.obey(one)
      for (const one of commands) second.obey(one)
      expect(second.log).toEqual(first.log)
    }),
    { numRuns: 20 },
  )
})

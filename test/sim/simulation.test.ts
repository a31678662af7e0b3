import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { check, describeViolation } from './check.ts'
import { READS_PER_SEED } from './main.ts'
import { MODES, type SimMode, simulate } from './simulate.ts'

/** Seeds of `npm test`, and all others. */
const SEEDS = {
  main: { 'at-most-f': [1001, 6], 'beyond-f': [1001, 2], 'split-log': [1001, 2] },
  rest: { 'at-most-f': [1007, 18], 'beyond-f': [1003, 6], 'split-log': [1003, 6] },
} as const satisfies Record<string, Record<SimMode, readonly [first: number, count: number]>>

async function expectValid(mode: SimMode, seed: number): Promise<void> {
  const run = await simulate({ seed, mode, readCount: READS_PER_SEED })
  expect(check(run).map(describeViolation), `SEED=${seed} npm run sim -- --mode ${mode}`).toEqual(
    [],
  )
}

describe.each([
  { set: 'main' as const, tags: [] },
  { set: 'rest' as const, tags: ['rest'] },
])('reads satisfy the invariants, ten thousand with all seeds ($set)', ({ set, tags }) => {
  const seedsOf = (mode: SimMode) => {
    const [first, count] = SEEDS[set][mode]
    return Array.from({ length: count }, (_, index) => first + index)
  }
  it.each(seedsOf('at-most-f'))('while at most f nodes lie, seed %i', { tags }, (seed) =>
    expectValid('at-most-f', seed),
  )
  it.each(seedsOf('beyond-f'))('while up to 2f nodes lie, seed %i', { tags }, (seed) =>
    expectValid('beyond-f', seed),
  )
  it.each(seedsOf('split-log'))('with two logs, seed %i', { tags }, (seed) =>
    expectValid('split-log', seed),
  )
})

describe('runs that have failed before satisfy the invariants:', () => {
  const lines = readFileSync(join(import.meta.dirname, 'seeds.txt'), 'utf8').split('\n')
  const runs = lines.filter((line) => /^[^#]/.test(line)).map((line) => line.split(' '))
  it.each(runs)('%s %s', (mode, seed) =>
    expectValid(MODES.find((one) => one === mode) as SimMode, Number(seed)),
  )
})

describe('a seed', () => {
  it('replays exactly', async () => {
    const options = { seed: 7, mode: 'at-most-f', readCount: 60 } as const
    const [first, second] = [await simulate(options), await simulate(options)]
    expect(second.reads).toEqual(first.reads)
    expect(first.reads.length).toBe(60)
  })

  it('that differs yields another run', async () => {
    const run = async (seed: number) => {
      const { reads } = await simulate({ seed, mode: 'at-most-f', readCount: 30 })
      return JSON.stringify(reads.map(({ lookup, startMs }) => [lookup, startMs]))
    }
    expect(await run(1)).not.toBe(await run(2))
  })
})

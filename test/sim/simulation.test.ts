import { describe, expect, it } from 'vitest'
import { check, describeViolation } from './check.ts'
import { type SimMode, simulate } from './simulate.ts'

const READS_PER_SEED = 250

async function violationsOf(seed: number, mode: SimMode): Promise<string[]> {
  const run = await simulate({ seed, mode, readCount: READS_PER_SEED })
  return check(run).map(describeViolation)
}

describe('ten thousand reads', () => {
  it.each(Array.from({ length: 24 }, (_, index) => index + 1))(
    'seed %i, at most f lie',
    async (seed) => {
      expect(await violationsOf(seed, 'budget')).toEqual([])
    },
  )

  it.each(Array.from({ length: 8 }, (_, index) => index + 1))(
    'seed %i, up to 2f lie',
    async (seed) => {
      expect(await violationsOf(seed, 'beyond-f')).toEqual([])
    },
  )

  it.each(Array.from({ length: 8 }, (_, index) => index + 1))('seed %i, two logs', async (seed) => {
    expect(await violationsOf(seed, 'split-log')).toEqual([])
  })
})

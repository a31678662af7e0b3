import { cases } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { checkCertified, describeCertified } from './certified-check.ts'
import { runCertified } from './certified-run.ts'

const READS_PER_SEED = 250
const SEED_COUNT = cases(5, 40)
const SEEDS = Array.from({ length: SEED_COUNT }, (_, index) => 1001 + index)

async function expectValid(
  seed: number,
  mode: 'at-most-f' | 'beyond-f' | 'wrong-clocks',
): Promise<void> {
  const run = await runCertified({ seed, mode, readCount: READS_PER_SEED })
  expect(
    checkCertified(run).map(describeCertified),
    `SEED=${seed} npm run sim -- --certified --mode ${mode}`,
  ).toEqual([])
}

describe('certified reads satisfy the invariants while up to 2f nodes collude', {
  tags: ['simulation'],
}, () => {
  it.each(SEEDS.slice(0, Math.ceil(SEED_COUNT / 3)))('seed %i', (seed) =>
    expectValid(seed, 'beyond-f'),
  )
})

describe('certified reads by a trust rule satisfy the invariants while all strangers collude', {
  tags: ['simulation'],
}, () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const run = await runCertified({ seed, mode: 'strangers-lie', readCount: READS_PER_SEED })
    expect(checkCertified(run).map(describeCertified)).toEqual([])
    expect(run.reads.some(({ outcome }) => 'answer' in outcome)).toBe(true)
  })
})

describe('certified reads satisfy the invariants while clocks of devices are wrong', {
  tags: ['simulation'],
}, () => {
  it.each(SEEDS)('seed %i', (seed) => expectValid(seed, 'wrong-clocks'))
})

describe('certified reads satisfy the invariants', { tags: ['simulation'] }, () => {
  it.each(SEEDS)('while at most f nodes lie, seed %i', (seed) => expectValid(seed, 'at-most-f'))
})

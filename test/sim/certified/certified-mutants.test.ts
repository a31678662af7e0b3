/** @module-tag rest */
import type * as certified from '@quorumscan/reader/certified'
import { importMutant } from '@quorumscan/verifier/testing'
import { describe, expect, it } from 'vitest'
import { checkCertified } from './certified-check.ts'
import { CERTIFIED_MUTANTS } from './certified-mutants.ts'
import { runCertified } from './certified-run.ts'

const READER = 'packages/reader/src/certified/index.ts'
const SEEDS_MAX = 20
const READS_PER_SEED = 150

describe('checkers detect this mistake of the certified reader:', () => {
  it.each(CERTIFIED_MUTANTS)('$mutation.mistake', async ({ mutation, rule, ...limits }) => {
    const readerModule = await importMutant<typeof certified>(READER, mutation)
    const found = new Set<string>()
    let seed = 1
    for (; seed <= SEEDS_MAX && !found.has(rule); seed++) {
      const run = await runCertified({ ...limits, readerModule, seed, readCount: READS_PER_SEED })
      for (const violation of checkCertified(run)) found.add(violation.rule)
    }
    expect([...found], `seeds 1 to ${seed - 1}`).toContain(rule)
  })
})

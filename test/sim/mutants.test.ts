/** @module-tag rest */
import type * as voted from '@quorumscan/reader/voted'
import { importMutant } from '@quorumscan/verifier/testing'
import { describe, expect, it } from 'vitest'
import { check } from './check.ts'
import { MUTANTS } from './mutants.ts'
import { simulate } from './simulate.ts'

const READER = 'packages/reader/src/voted/voted-reader.ts'
const SEEDS_MAX = 20
const READS_PER_SEED = 250

describe('checkers detect this mistake of the reader:', () => {
  it.each(MUTANTS)('$mutation.mistake', async ({ mutation, rules, ...limits }) => {
    const { createReader } = await importMutant<typeof voted>(READER, mutation)
    const found = new Set<string>()
    let seed = 1
    for (; seed <= SEEDS_MAX && !rules.some((rule) => found.has(rule)); seed++) {
      const run = await simulate({ ...limits, createReader, seed, readCount: READS_PER_SEED })
      for (const { rule } of check(run)) found.add(rule)
    }
    expect(
      rules.some((rule) => found.has(rule)),
      `seeds 1 to ${seed - 1}: ${[...found]}`,
    ).toBe(true)
  })
})

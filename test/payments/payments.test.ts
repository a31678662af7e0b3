/** A payment happens once, and its client knows what happened: each fault at each point, and random stories. */

import { importMutant, type Mutation } from '@quorumscan/verifier/testing'
import * as wallet from '@quorumscan/wallet'
import { describe, expect, it } from 'vitest'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as store from '../../sdk/src/wallet/payment-store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as payments from '../../sdk/src/wallet/payments.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { CONTROLS, MUTANTS } from './mutants.ts'
import { FAULTS, KINDS, MOMENTS, type Story, tell } from './stories.ts'
import type { Modules } from './world.ts'

const REAL: Modules = { wallet, payments, store }
const FIRST_SEED = 5101
const STORIES = 200

/** The story of a seed, with up to three faults. */
function storyOf(seed: number): Story {
  const random = createSeededRandom(seed)
  const faults = new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(FAULTS)))
  return { kind: random.pick(KINDS), moment: random.pick(MOMENTS), faults: [...faults] }
}

async function withMutant(mutation: Mutation): Promise<Modules> {
  const { file } = mutation
  if (file.startsWith('packages/wallet/')) {
    const { createPayments } = await importMutant<typeof wallet>(file, mutation)
    return { ...REAL, wallet: { ...wallet, createPayments } }
  }
  return file.endsWith('payments.ts')
    ? { ...REAL, payments: await importMutant(file, mutation) }
    : { ...REAL, store: await importMutant(file, mutation) }
}

describe.each(KINDS)('%s: paid once, and the last result is what the ledger has', (kind) => {
  it.each(FAULTS)('%s, before, during and after the effect', async (fault) => {
    for (const moment of MOMENTS)
      expect(await tell(REAL, { kind, moment, faults: [fault] }), moment).toEqual([])
  })
})

it(`${STORIES} random stories hold`, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + STORIES; seed++) {
    const story = storyOf(seed)
    expect(await tell(REAL, story), `seed ${seed}: ${JSON.stringify(story)}`).toEqual([])
  }
})

describe('the stories detect this mistake:', () => {
  it.each(MUTANTS)('$mutation.mistake', async ({ mutation, story }) => {
    expect(await tell(await withMutant(mutation), story)).not.toEqual([])
  })

  it.each(CONTROLS)('and none in $file', async (control) => {
    const modules = await withMutant(control)
    for (const { story } of MUTANTS) expect(await tell(modules, story)).toEqual([])
  })
})

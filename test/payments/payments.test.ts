/** A payment happens once, and its client knows what happened: each fault at each point, and random stories. */

import { importMutant, type Mutation } from '@quorumscan/verifier/testing'
import * as wallet from '@quorumscan/wallet'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as store from '../../sdk/src/wallet/payment-store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as payments from '../../sdk/src/wallet/payments.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as client from '../../sdk/src/wallet/wallet.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { CONTROLS, MUTANTS } from './mutants.ts'
import { RULES } from './rules.ts'
import { FAULTS, KINDS, MOMENTS, type Story, tell } from './stories.ts'
import type { Modules } from './world.ts'

const REAL: Modules = { wallet, client, payments, store }
const STORE = 'sdk/src/wallet/payment-store.ts'
const CLIENT = 'sdk/src/wallet/wallet.ts'
const PAYMENTS = 'sdk/src/wallet/payments.ts'
const CONTROL: Mutation = {
  mistake: 'none',
  file: STORE,
  text: 'UNFINISHED_MAX = 100',
  by: 'UNFINISHED_MAX = 100',
}
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
  if (file === 'packages/wallet/src/wallet/payments.ts') {
    const { createPayments } = await importMutant<typeof wallet>(file, mutation)
    return { ...REAL, wallet: { ...wallet, createPayments } }
  }
  if (file.startsWith('packages/wallet/')) {
    const entry = 'packages/wallet/src/handlers.ts'
    const { walletHandlers } = await importMutant<typeof wallet>(entry, mutation)
    return { ...REAL, wallet: { ...wallet, walletHandlers } }
  }
  if (file === CLIENT)
    return {
      ...REAL,
      client: await importMutant(CLIENT, mutation),
      payments: await importMutant(PAYMENTS, mutation),
    }
  return file === STORE
    ? { ...REAL, store: await importMutant(file, mutation) }
    : { ...REAL, payments: await importMutant(PAYMENTS, mutation) }
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

/** The store's module, loaded again as by another tab. */
const tabOf = (mutation: Mutation) =>
  importMutant<Modules['store']>(STORE, mutation.file === STORE ? mutation : CONTROL, 'another tab')

describe.each(RULES)('$rule', ({ check, mistakes }) => {
  // As in a private window of Safari and in happy-dom.
  beforeEach(() => vi.stubGlobal('navigator', { onLine: true, locks: null }))
  afterEach(() => vi.unstubAllGlobals())

  it('holds', async () => {
    expect(await check(REAL, await tabOf(CONTROL))).toEqual([])
  })

  it.each(mistakes)('and detects this mistake: $mistake', async (mutation) => {
    expect(await check(await withMutant(mutation), await tabOf(mutation))).not.toEqual([])
  })
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

/** A payment happens once, and its client knows what happened: each fault at each point, and random stories. */

import { importMutant, type Mutation } from '@quorumscan/verifier/testing'
import * as wallet from '@quorumscan/wallet'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { failure } from '../../sdk/src/errors.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { parseParty } from '../../sdk/src/platform/parse-party.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { PaymentResult } from '../../sdk/src/wallet/payment-result.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as store from '../../sdk/src/wallet/payment-store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as payments from '../../sdk/src/wallet/payments.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { CallOptions } from '../../sdk/src/wallet/wallet.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import * as client from '../../sdk/src/wallet/wallet.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { CONTROLS, MUTANTS } from './mutants.ts'
import { RULES } from './rules.ts'
import { FAULTS, KINDS, MOMENTS, type Story, tell } from './stories.ts'
import { type Modules, pays, World } from './world.ts'

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
type Options = CallOptions & { readonly onProgress?: () => void }

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

describe.each(['transfer', 'own id', 'tap', 'register', 'renew'] as const)('%s', (kind) => {
  const begin = (): [World, (options: Options) => Promise<PaymentResult<unknown>>] => {
    const world = new World(REAL)
    const due = kind === 'renew' ? world.ownName('a.unverified.ns') : ''
    const client = world.client({ user: 'alice' })
    const transfer = { receiver: parseParty(world.bob.party), coin: '7' }
    return [
      world,
      (options) => {
        const named = { ...options, timeoutMs: 6_000 }
        if (kind === 'register') return client.register({ name: 'a.unverified.ns' }, named)
        if (kind === 'renew') return client.renew('a.unverified.ns', { ...named, after: due })
        if (kind === 'tap') return client.tap({ usd: '1', commandId: 'tap' }, options)
        const own = kind === 'own id' ? { trackingId: 'own' } : {}
        return client.transfer({ ...transfer, ...own }, options)
      },
    ]
  }

  it.each([
    failure('INSUFFICIENT_FUNDS', 'planted'),
    failure('CONSENSUS_LAGGING', 'planted'),
    failure('NAME_TAKEN', 'planted', { payment: 'paid' }),
    failure('PAYMENT_PENDING', 'planted', { payment: 'locked' }),
  ])(
    'is unknown if its signal aborts after it was sent, whatever the reason says: $code',
    async (reason) => {
      const [world, pay] = begin()
      const controller = new AbortController()
      const { signal } = controller
      let noteSent = () => {}
      const sent = new Promise<void>((resolve) => {
        noteSent = resolve
      })
      const meets = (call: string) => {
        if (pays(call)) noteSent()
        return pays(call)
      }
      world.fail({ answer: 'never', effect: 'now', isLasting: true, meets })
      const paying = pay({ signal })
      await sent
      controller.abort(reason)
      const made = await paying
      expect(made.kind).toBe('unknown')
      expect(made).toMatchObject({ error: { definite: false, payment: 'unknown' } })
      const requests = world.requests
      await expect(pay({ signal })).rejects.toBe(reason)
      expect(world.requests).toBe(requests)
    },
  )

  it('is what the ledger has, whatever its `onProgress` throws', async () => {
    const reported: unknown[] = []
    vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
    const [, pay] = begin()
    let count = 0
    const onProgress = (): never => {
      count++
      throw new Error('planted')
    }
    const { kind: made } = await pay({ onProgress })
    expect([made, reported.length]).toEqual(['done', count])
    expect(count).toBeGreaterThan(0)
    vi.unstubAllGlobals()
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

/**
 * Payments with real processes: faults of test/payments, with a network that loses requests and answers, a validator that
 * is killed or restored from a backup, and a synchronizer that is paused. Each payment takes effect at most once, and its
 * last result is what the ledger has. Repeats after the deduplication period, which is at least ten minutes, and after the
 * expiry are in test/payments alone.
 *
 * @module-tag long
 * @module-tag payments
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createMemoryStore,
  createValidator,
  type PaymentResult,
  type Payments,
  type Store,
} from '@quorumscan/sdk'
import { it as base } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { clock } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'

const MINUTE_MICROS = 60_000_000
const HOUR_MICROS = 60 * MINUTE_MICROS
const EXPIRY_MICROS = MINUTE_MICROS
/** Of a request without an answer. */
const SILENCE_MS = 2_000

const KINDS = ['transfer', 'own id', 'accept', 'withdraw', 'tap', 'register', 'renew'] as const
type Kind = (typeof KINDS)[number]
type Send = () => Promise<Response>
/** What happens in place of the first request that pays. */
type Fault = (send: Send, signal: AbortSignal | null | undefined) => Promise<Response>

const refusal = (status: number, code: string) =>
  Response.json(
    { error: code, code, definite: true, retryable: false, request_id: 'r', details: null },
    { status },
  )
const lost = () => {
  throw new TypeError('fetch failed')
}
const silence = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
  })

const ANSWERS: Readonly<Record<string, (signal?: AbortSignal | null) => Promise<Response>>> = {
  'a lost answer': async () => lost(),
  'half an answer': async () => new Response('{"output":{"transfer_inst'),
  '401': async () => refusal(401, 'UNAUTHENTICATED'),
  '403': async () => refusal(403, 'PERMISSION_DENIED'),
  '408': async () => refusal(408, 'REQUEST_TIMEOUT'),
  '409': async () => refusal(409, 'CHOICE_REFUSED'),
  '429': async () => refusal(429, 'RATE_LIMITED'),
  '500': async () => Response.json({ code: 'INTERNAL', definite: false }, { status: 500 }),
  '502 with HTML': async () => new Response('<h1>Bad Gateway</h1>', { status: 502 }),
  silence: (signal) => silence(signal),
}
/** Refusals that only come before an effect. */
const REFUSALS = ['401', '403', '408', '409', '429']

const PAYS = /\/(tap|transfers)\b|\/subscription-requests\/[^/]+\/accept$|\/pay$/

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startCluster({
        nodes: 4,
        genesisOverrides: {
          // Names can be renewed immediately.
          names: { entryLifetimeMicros: HOUR_MICROS, renewalDurationMicros: HOUR_MICROS },
        },
      }),
    ),
  )
  /** A client of a user, whose first request that pays meets the fault. */
  .extend(
    'open',
    { scope: 'file' },
    ({ cluster }) =>
      async (user: string, options: Options = {}) => {
        const { store = createMemoryStore(), fault } = options
        let isDone = fault === undefined
        return createValidator({
          url: cluster.urls.validator,
          token: await cluster.token(user),
          store,
          fetch: async (input, init) => {
            const send = () => fetch(input, init)
            const { pathname } = new URL(String(input))
            if (isDone || fault === undefined || init?.method !== 'POST' || !PAYS.test(pathname))
              return await send()
            isDone = true
            return await fault(send, init.signal)
          },
        })
      },
  )
  .extend('parties', { scope: 'file' }, async ({ open }) => {
    const of = async (user: string) => {
      const { wallet, payments } = await open(user)
      await wallet.register()
      await payments.tap({ usd: '1000.0' })
      return (await wallet.status()).partyId
    }
    return { alice: await of('alice'), bob: await of('bob') }
  })
  /** What the ledger has of alice. */
  .extend('ledger', { scope: 'file' }, ({ open, parties }) => async (): Promise<LedgerEvent[]> => {
    const { updates } = await open('alice')
    const events: LedgerEvent[] = []
    for await (const update of updates({ parties: [parties.alice], follow: false })) {
      if (update.kind !== 'transaction') continue
      const { commandId, updateId } = update
      for (const event of update.events) {
        if ('CreatedEvent' in event) {
          const text = JSON.stringify(event.CreatedEvent.createArgument)
          events.push({ commandId, updateId, text })
        }
        if ('ExercisedEvent' in event) {
          const { contractId, choice } = event.ExercisedEvent
          events.push({ commandId, updateId, text: `${choice} of ${contractId}` })
        }
      }
    }
    return events
  })
  /** A new payment of a kind, and how the ledger shows its effects. */
  .extend('paymentOf', { scope: 'file' }, ({ open, parties }) => {
    let count = 0
    return async (kind: Kind): Promise<Payment> => {
      const id = `payment-${++count}`
      const { alice, bob } = parties
      const made = async (sender: string, receiver: string) => {
        const { payments } = await open(sender)
        const offer = await payments.transfer({ receiver, coin: '1', description: id })
        if (offer.kind !== 'done' || !('transferInstructionCid' in offer.result.output))
          throw new Error(`no offer: ${offer.kind}`)
        return offer.result.output.transferInstructionCid
      }
      if (kind === 'transfer' || kind === 'own id') {
        const expiresAt = formatInstant(clock.nowMicros() + EXPIRY_MICROS)
        const input = { receiver: bob, coin: '1', description: id, expiresAt }
        const trackingId = kind === 'own id' ? { trackingId: id } : {}
        return {
          pay: (payments) => payments.transfer({ ...input, ...trackingId }, LIMITS),
          isEffect: ({ text }) =>
            text.includes(`"description":"${id}"`) || text.includes(`:"${id}"`),
        }
      }
      if (kind === 'tap')
        return {
          pay: (payments) => payments.tap({ usd: '1.0', commandId: id }, LIMITS),
          isEffect: ({ commandId, text }) => commandId === id && text.includes('_Tap'),
        }
      if (kind === 'accept' || kind === 'withdraw') {
        const offer = kind === 'accept' ? await made('bob', alice) : await made('alice', bob)
        const choice = kind === 'accept' ? 'Accept' : 'Withdraw'
        return {
          pay: ({ acceptTransfer, withdrawTransfer }) =>
            (kind === 'accept' ? acceptTransfer : withdrawTransfer)(offer, LIMITS),
          isEffect: ({ text }) => text === `TransferInstruction_${choice} of ${offer}`,
        }
      }
      const name = `${id}.unverified.ns`
      const isEntry = ({ text }: LedgerEvent) =>
        text.includes(`"name":"${name}"`) &&
        text.includes('"expiresAt"') &&
        !text.includes('payData')
      if (kind === 'register')
        return { pay: (payments) => payments.register({ name }, STEPS), isEffect: isEntry }
      const owned = await (await open('alice')).payments.register({ name })
      if (owned.kind !== 'done') throw owned.error
      const { expiresAt: after } = owned.result.entry
      return {
        pay: (payments) => payments.renew(name, { ...STEPS, ...(after !== null && { after }) }),
        isEffect: (event) => isEntry(event) && event.updateId !== owned.updateId,
      }
    }
  })
  /** Pays with a fault, settles as a user would, and compares with the ledger. */
  .extend('tell', { scope: 'file' }, ({ open, ledger, paymentOf }) => async (story: Story) => {
    const { kind, fault, between = async () => {} } = story
    const payment = await paymentOf(kind)
    const store = createMemoryStore()
    const { payments } = await open('alice', { store, fault })
    const shown: PaymentResult<unknown>[] = []
    let last: PaymentResult<unknown> = await payment.pay(payments)
    shown.push(last)
    await between()
    const later = (await open('alice', { store })).payments
    for (let turn = 0; turn < TURNS && last.kind === 'unknown'; turn++) {
      const [left] = await later.unfinished()
      if (left === undefined) throw new Error('an unknown payment is not unfinished')
      last = await left.settle(STEPS)
      shown.push(last)
    }
    if (kind === 'own id' || kind === 'register' || kind === 'renew') {
      const other = await payment.pay((await open('alice')).payments)
      shown.push(other)
      // Another device pays what this one did not.
      if (last.kind === 'refused') last = other
    }
    const effects = (await ledger()).filter(payment.isEffect)
    const updateIds = [...new Set(effects.map(({ updateId }) => updateId))]
    const ends = shown.filter((result) => result.kind !== 'unknown')
    return {
      last: last.kind,
      paid: updateIds.length,
      ids: ends.flatMap((result) => (result.kind === 'done' ? [result.updateId] : [])),
      updateIds,
      unfinished: (await later.unfinished()).length,
    }
  })

type Options = { readonly store?: Store; readonly fault?: Fault }
type LedgerEvent = { readonly commandId: string; readonly updateId: string; readonly text: string }
type Payment = {
  readonly pay: (payments: Payments) => Promise<PaymentResult<unknown>>
  readonly isEffect: (event: LedgerEvent) => boolean
}
type Story = {
  readonly kind: Kind
  readonly fault: Fault
  /** Before the payment is settled. */
  readonly between?: () => Promise<void>
}

const LIMITS = { timeoutMs: SILENCE_MS }
/** For all steps of a registration or renewal. */
const STEPS = { timeoutMs: 20_000 }
/** A validator that starts again may not answer the first attempts. */
const TURNS = 20

/** The last result is the ledger's, and each `done` has the update of the one effect. */
function expectTruth(told: {
  last: string
  paid: number
  ids: readonly (string | null)[]
  updateIds: readonly string[]
  unfinished: number
}): void {
  const { last, paid, ids, updateIds, unfinished } = told
  expect({ last, paid, unfinished }).toEqual({
    last: paid === 0 ? 'refused' : 'done',
    paid: Math.min(paid, 1),
    unfinished: 0,
  })
  for (const id of ids) expect(updateIds).toContain(id)
}

describe.each(KINDS)('%s: paid once, and the last result is what the ledger has', (kind) => {
  it.for(Object.keys(ANSWERS))(
    'after %s, before and after the effect',
    async (answer, { tell }) => {
      const make = ANSWERS[answer]
      if (make === undefined) throw new Error('no such answer')
      expectTruth(await tell({ kind, fault: (_, signal) => make(signal) }))
      if (REFUSALS.includes(answer)) return
      const after: Fault = async (send, signal) => {
        await send()
        return await make(signal)
      }
      expectTruth(await tell({ kind, fault: after }))
    },
  )

  it('while the validator is killed', async ({ cluster, tell }) => {
    const fault: Fault = async (send) => {
      const sent = send().catch(() => {})
      await cluster.kill('validator')
      await sent
      return lost()
    }
    expectTruth(await tell({ kind, fault, between: () => cluster.restart('validator') }))
  })

  it('while the synchronizer is paused', async ({ cluster, tell }) => {
    const fault: Fault = async (send, signal) => {
      await cluster.pause('synchronizer')
      send().catch(() => {})
      return await silence(signal)
    }
    expectTruth(await tell({ kind, fault, between: () => cluster.resume('synchronizer') }))
  })
})

it.for(['own id', 'tap', 'register', 'renew'] as const)(
  '%s: paid once with a validator that is restored from a backup before the payment',
  async (kind, { cluster, tell }) => {
    const data = join(cluster.dataDir, 'redis', 'validator')
    const saved = join(cluster.dataDir, `saved-${kind}`)
    const stop = async () => {
      for (const part of ['redis', null] as const) await cluster.kill('validator', { part })
    }
    const start = async () => {
      await cluster.restart('validator', { part: 'redis' })
      await cluster.restart('validator')
    }
    const fault: Fault = async (send) => {
      await send()
      return lost()
    }
    const between = async () => {
      await stop()
      rmSync(data, { recursive: true })
      cpSync(saved, data, { recursive: true })
      await start()
    }
    await stop()
    cpSync(data, saved, { recursive: true })
    await start()
    expectTruth(await tell({ kind, fault, between }))
  },
)

/**
 * Payments with real processes: the faults of test/payments, with a network that loses requests and answers and resets
 * connections, a second tab and a second device, devices with a wrong clock, a validator that is killed or restored from a
 * backup, and a synchronizer that is paused. Each payment takes effect at most once, and its last result is what the ledger
 * has. The deduplication period is at least ten minutes: to repeat after it, the clocks of all processes jump.
 *
 * @module-tag long
 * @module-tag payments
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseTime } from '@quorumscan/model'
import {
  createMemoryStore,
  createValidator,
  type Party,
  type PaymentResult,
  type Payments,
  type Store,
} from '@quorumscan/sdk'
import { createScanClient } from '@quorumscan/sdk/raw'
import { send, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { clock } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'

const MINUTE_MICROS = 60_000_000
const DAY_MICROS = 24 * 60 * MINUTE_MICROS
/** The shortest deduplication period of a network. */
const PERIOD_MICROS = 10 * MINUTE_MICROS
/** Beyond the period, and beyond the last effect of a transfer that expires in a minute. */
const JUMP_MICROS = PERIOD_MICROS + 2 * MINUTE_MICROS
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

/** Requests of `commands.submit`. */
const SUBMITS = /\/submit-and-wait$/

/** Those whose clocks move. */
const PROCESSES = ['sv-1', 'sv-2', 'sv-3', 'sv-4', 'validator', 'synchronizer'] as const

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startCluster({
        nodes: 4,
        genesisOverrides: {
          deduplicationMicrosMax: PERIOD_MICROS,
          // Names can be renewed immediately, and live longer than all jumps.
          names: { entryLifetimeMicros: 30 * DAY_MICROS, renewalDurationMicros: 30 * DAY_MICROS },
        },
      }),
    ),
  )
  /** How far the clocks of all processes, and of devices, are ahead of this machine. */
  .extend('time', { scope: 'file' }, { aheadMicros: 0 })
  /** Moves all clocks. Ordering stalls until the processes agree about the time. */
  .extend('jump', { scope: 'file' }, ({ cluster, time }) => async () => {
    time.aheadMicros += JUMP_MICROS
    const offsetMs = time.aheadMicros / 1000
    // The synchronizer last: the nodes confirm its new time.
    for (const name of PROCESSES) await cluster.clock(name, { offsetMs })
    await untilTrue('the log to continue', async () => {
      const { status, body } = await send(`${cluster.urls.synchronizer}/status`)
      const recordTime = parseTime(body?.success?.extra?.recordTime ?? '') ?? 0
      const now = clock.nowMicros() + time.aheadMicros - MINUTE_MICROS
      return status === 200 && recordTime > now
    })
    await untilTrue('the validator to be up', async () => {
      return (await cluster.status()).validator.state === 'up'
    })
  })
  /** A client of a user, whose first request of a kind meets the fault. */
  .extend(
    'open',
    { scope: 'file' },
    ({ cluster, time }) =>
      async (user: string, options: Options = {}) => {
        const { store = createMemoryStore(), fault, skewMicros = 0, meets = PAYS } = options
        let isDone = fault === undefined
        return createValidator({
          url: cluster.urls.validator,
          token: await cluster.token(user),
          store,
          clock: {
            ...clock,
            nowMicros: () => clock.nowMicros() + time.aheadMicros + skewMicros,
          },
          fetch: async (input, init) => {
            const sendNow = () => fetch(input, init)
            const { pathname } = new URL(String(input))
            if (isDone || fault === undefined || init?.method !== 'POST' || !meets.test(pathname))
              return await sendNow()
            isDone = true
            return await fault(sendNow, init.signal)
          },
        })
      },
  )
  .extend('parties', { scope: 'file' }, async ({ open }) => {
    const of = async (user: string) => {
      const { wallet, payments } = await open(user)
      const party = await wallet.party()
      await payments.tap({ usd: '1000.0' })
      return party
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
  .extend('paymentOf', { scope: 'file' }, ({ open, parties, time }) => {
    let count = 0
    return async (kind: Kind, lifeMicros: number): Promise<Payment> => {
      const id = `payment-${++count}`
      const { alice, bob } = parties
      const made = async (sender: string, receiver: Party) => {
        const { payments } = await open(sender)
        const offer = await payments.transfer({ receiver, coin: '1', description: id })
        if (offer.kind !== 'done' || !('transferInstructionCid' in offer.result.output))
          throw new Error(`no offer: ${offer.kind}`)
        return offer.result.output.transferInstructionCid
      }
      if (kind === 'transfer' || kind === 'own id') {
        const expiresAt = formatInstant(clock.nowMicros() + time.aheadMicros + lifeMicros)
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
    const { kind, fault, later, skewMicros = 0, lifeMicros = DAY_MICROS } = story
    const { between = async () => {}, isInTwoTabs = false, isOnTwoDevices = false } = story
    const payment = await paymentOf(kind, lifeMicros)
    const client = async (options: Options) =>
      (await open('alice', { skewMicros, ...options })).payments
    const shown: PaymentResult<unknown>[] = []
    const show = (result: PaymentResult<unknown>) => {
      shown.push(result)
      return result
    }
    /** Settles in another page: the one that paid is closed. */
    const end = async (first: PaymentResult<unknown>, store: Store) => {
      const page = await client({ store, ...(later !== undefined && { fault: later }) })
      let last = first
      for (let turn = 0; turn < TURNS && last.kind === 'unknown'; turn++) {
        const [left] = await page.unfinished()
        if (left === undefined) throw new Error('an unknown payment is not unfinished')
        last = show(await left.settle(STEPS))
      }
      return last
    }

    const [store, storeOfOther] = [createMemoryStore(), createMemoryStore()]
    const device = await client({ store, ...(fault !== undefined && { fault }) })
    const paying = payment.pay(device)
    const other = isOnTwoDevices ? payment.pay(await client({ store: storeOfOther })) : null
    let last = show(await paying)
    if (other !== null) await end(show(await other), storeOfOther)
    await between()
    if (isInTwoTabs && last.kind === 'unknown') {
      const [left] = await (await client({ store })).unfinished()
      if (left === undefined) throw new Error('an unknown payment is not unfinished')
      const ends = await Promise.all([last.settle(STEPS), left.settle(STEPS)])
      for (const result of ends) last = show(result)
    }
    last = await end(last, store)
    const wasRefused = shown.some((result) => result.kind === 'refused')
    if (kind !== 'transfer') {
      const again = show(await payment.pay(await client({})))
      // Another device pays what this one did not, unless it is too late.
      if (last.kind === 'refused' && again.kind === 'done') last = again
    }
    const effects = (await ledger()).filter(payment.isEffect)
    const updateIds = [...new Set(effects.map(({ updateId }) => updateId))]
    const ends = shown.filter((result) => result.kind !== 'unknown')
    return {
      last: last.kind,
      paid: updateIds.length,
      ids: ends.flatMap((result) => (result.kind === 'done' ? [result.updateId] : [])),
      updateIds,
      unfinished: (await device.unfinished()).length,
      wasRefused,
    }
  })

type Options = {
  readonly store?: Store
  readonly fault?: Fault
  /** Which requests. Default: those that pay. */
  readonly meets?: RegExp
  /** How far the clock of the device is ahead. */
  readonly skewMicros?: number
}
type LedgerEvent = { readonly commandId: string; readonly updateId: string; readonly text: string }
type Payment = {
  readonly pay: (payments: Payments) => Promise<PaymentResult<unknown>>
  readonly isEffect: (event: LedgerEvent) => boolean
}
type Story = Pick<Options, 'fault' | 'skewMicros'> & {
  readonly kind: Kind
  /** Of the first request that pays of the page that settles. */
  readonly later?: Fault
  /** Before the payment is settled. */
  readonly between?: () => Promise<void>
  readonly isInTwoTabs?: boolean
  readonly isOnTwoDevices?: boolean
  /** When a transfer expires. Default: in a day. */
  readonly lifeMicros?: number
}
type Told = {
  readonly last: string
  readonly paid: number
  readonly ids: readonly (string | null)[]
  readonly updateIds: readonly string[]
  readonly unfinished: number
  /** Before another device paid. */
  readonly wasRefused: boolean
}

const LIMITS = { timeoutMs: SILENCE_MS }
/** It ends by itself: to heal the validator would also set its clock back. */
const RESET = { durationMs: 500 }
/** For all steps of a registration or renewal. */
const STEPS = { timeoutMs: 20_000 }
/** A validator that starts again may not answer the first attempts. */
const TURNS = 20

/** The last result is the ledger's, and each `done` has the update of the one effect. */
function expectTruth(told: Told): void {
  const { last, paid, ids, updateIds, unfinished } = told
  expect({ last, paid, unfinished }).toEqual({
    last: paid === 0 ? 'refused' : 'done',
    paid: Math.min(paid, 1),
    unfinished: 0,
  })
  for (const id of ids) expect(updateIds).toContain(id)
}

/** It may have taken effect, so that nothing is refused. */
function expectPaid(told: Told): void {
  expectTruth(told)
  expect(told).toMatchObject({ last: 'done', paid: 1, wasRefused: false })
}

const lostBefore: Fault = async () => lost()
const lostAfter: Fault = async (send) => {
  await send()
  return lost()
}
const LOSSES = [
  ['before', lostBefore],
  ['after', lostAfter],
] as const

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
      expectPaid(await tell({ kind, fault: after }))
    },
  )

  it.for(REFUSALS)('if the repeat of a lost request gets %s', async (answer, { tell }) => {
    const later: Fault = async (_, signal) => await (ANSWERS[answer] ?? silence)(signal)
    expectTruth(await tell({ kind, fault: lostBefore, later }))
  })

  it('if the connection is reset, before the request and before the answer', async ({
    cluster,
    tell,
  }) => {
    const between = () =>
      untilTrue('connections to last', async () => {
        return (await cluster.faults()).every(({ spec }) => spec.kind !== 'reset')
      })
    const before: Fault = async (send) => {
      await cluster.reset('validator', RESET)
      return await send()
    }
    expectTruth(await tell({ kind, fault: before, between }))
    const during: Fault = async (send) => {
      const [answer] = await Promise.all([send(), cluster.reset('validator', RESET)])
      return answer
    }
    expectTruth(await tell({ kind, fault: during, between }))
  })

  it.for(LOSSES)('in two tabs, after a loss %s the effect', async ([, fault], { tell }) => {
    expectPaid(await tell({ kind, fault, isInTwoTabs: true }))
  })

  // A transfer with a new id is another one on another device.
  it.runIf(kind !== 'transfer')('on two devices at the same time', async ({ tell }) => {
    expectTruth(await tell({ kind, isOnTwoDevices: true }))
    expectTruth(await tell({ kind, isOnTwoDevices: true, fault: lostAfter }))
  })

  it.for([10, -10])('from a device whose clock is %s minutes ahead', async (minutes, { tell }) => {
    const skewMicros = minutes * MINUTE_MICROS
    for (const [, fault] of LOSSES) {
      const told = await tell({ kind, fault, skewMicros })
      if (kind !== 'register' || minutes < 0) {
        expectPaid(told)
        continue
      }
      // It reads names before it sends anything, and each answer is too old for a clock that is ahead (Rule 6).
      expectTruth(told)
      expect(told).toMatchObject({ last: 'refused', paid: 0 })
    }
  })

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

  it('with a validator that is restored from a backup before the payment', async ({
    cluster,
    tell,
  }) => {
    const data = join(cluster.dataDir, 'redis', 'validator')
    const saved = join(cluster.dataDir, `saved-${kind}`)
    const stop = async () => {
      for (const part of ['redis', null] as const) await cluster.kill('validator', { part })
    }
    const start = async () => {
      await cluster.restart('validator', { part: 'redis' })
      await cluster.restart('validator')
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
    expectPaid(await tell({ kind, fault: lostAfter, between }))
  })

  it('if it is repeated after the deduplication period', async ({ jump, tell }) => {
    for (const [, fault] of LOSSES) expectPaid(await tell({ kind, fault, between: jump }))
  })

  it.runIf(kind === 'transfer' || kind === 'own id')(
    'if it is repeated after its expiry',
    async ({ jump, tell }) => {
      const lifeMicros = MINUTE_MICROS
      const late = await tell({ kind, fault: lostBefore, lifeMicros, between: jump })
      expectTruth(late)
      expect(late).toMatchObject({ last: 'refused', paid: 0 })
      expectPaid(await tell({ kind, fault: lostAfter, lifeMicros, between: jump }))
    },
  )
})

it.for(['a lost answer', 'half an answer', '401', '500', '502 with HTML'])(
  'a command after %s has one effect, and its id finds it',
  async (answer, { cluster, open, ledger, parties: { alice } }) => {
    const make = ANSWERS[answer]
    const [url = ''] = Object.values(cluster.urls.nodes)
    const { data } = await createScanClient({ baseUrl: url }).POST('/v0/ans-rules', { body: {} })
    const contract = data?.ans_rules_update.contract
    const { synchronizerId } = await (await fetch(`${url}/v0/genesis`)).json()
    if (make === undefined || contract == null) throw new Error('no such answer, or no rules')
    const { template_id: templateId, contract_id: contractId } = contract
    const submissionOf = (commandId: string) => {
      const choiceArgument = {
        name: `${commandId}.unverified.ns`,
        url: '',
        description: '',
        user: alice,
      }
      const choice = 'AnsRules_RequestEntry'
      return {
        commandId,
        actAs: [alice],
        commands: [{ ExerciseCommand: { templateId, contractId, choice, choiceArgument } }],
        disclosedContracts: [
          {
            templateId,
            contractId,
            createdEventBlob: contract.created_event_blob,
            synchronizerId,
          },
        ],
      }
    }
    for (const [when, loss] of LOSSES) {
      const isRefused = REFUSALS.includes(answer)
      if (isRefused && loss === lostAfter) continue
      const fault: Fault = async (send, signal) => {
        if (loss === lostAfter) await send()
        return await make(signal)
      }
      const id = `command-${Object.keys(ANSWERS).indexOf(answer)}-${when}`
      const client = await open('alice', { fault, meets: SUBMITS })
      const first = await client.commands.submit(submissionOf(id))
      // An earlier call may have submitted the id.
      expect(first.kind).toBe(isRefused ? 'unknown' : 'committed')
      const again = await (await open('alice')).commands.submit(submissionOf(id))
      const found = (await ledger()).filter(({ commandId }) => commandId === id)
      const updateIds = [...new Set(found.map(({ updateId }) => updateId))]
      expect(updateIds).toHaveLength(1)
      expect(again).toMatchObject({ kind: 'committed', wasDuplicate: !isRefused })
      for (const outcome of [first, again])
        if (outcome.kind === 'committed') expect(outcome.updateId).toBe(updateIds[0])
    }
  },
)

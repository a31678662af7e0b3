/** The jobs of a wallet over the real ledger in memory, without queues: what each selects and does. */
import { type ErrorCode, ScanError } from '@quorumscan/errors'
import {
  createTransferInstructionCommand,
  type Ledger,
  makePaymentCommand,
  subscriptionInitialPayment,
  subscriptionPayment,
  transferInstruction,
} from '@quorumscan/ledger'
import { type Actor, amountOf, Scenario } from '@quorumscan/ledger/testing'
import { expect, it } from 'vitest'
import type { JobDefinition, WalletJobDeps } from './job.ts'
import { retryMs, walletJobs } from './wallet-jobs.ts'

const DAY_MICROS = 86_400_000_000
const { signal } = new AbortController()

function job(name: string): JobDefinition<WalletJobDeps> {
  const found = walletJobs.find((definition) => definition.name === name)
  if (found === undefined) throw new Error(`no job ${name}`)
  return found
}

/** A ledger on which `hosted` are the parties of this validator. */
function createWorld(hosted: (scenario: Scenario) => readonly Actor[]) {
  const scenario = new Scenario()
  const { ledger: memory } = scenario
  const actors = hosted(scenario)
  const renewed = new Set<string>()
  const paid: string[] = []
  let refusal: ScanError | null = null
  let isPaused = false
  const ledger: Ledger = {
    head: () => memory.head(),
    contracts: async (ids) => ids.map((id) => memory.contract(id)),
    contractsByKey: async (key) => memory.byKey(key),
    totals: async (keys) => memory.totals(keys),
    isPartyAllocated: async (party) => memory.isPartyAllocated(party),
    dueItems: async ({ job }) => memory.due().filter((item) => item.job === job),
    dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
    onApplied: () => () => {},
  }
  const deps: WalletJobDeps = {
    ledger,
    userId: 'wallet',
    isHosted: (party) => actors.some((actor) => actor.party === party),
    areAutoRenewed: async (references) => references.map((reference) => renewed.has(reference)),
    payRenewal: async (idle) => {
      if (refusal !== null) throw refusal
      if (isPaused) return 'paused'
      paid.push(idle.contractId)
      return 'done'
    },
    async submit({ actAs, commands }) {
      const actor = actors.find(({ party }) => party === actAs[0])
      if (actor === undefined) throw new Error('acts for hosted parties only')
      const result = scenario.submit(actor, commands)
      if (result.kind === 'rejected') throw new ScanError('CHOICE_REFUSED', result.message)
    },
  }
  return {
    scenario,
    actors,
    renewed,
    paid,
    pause: () => {
      isPaused = true
    },
    refuse: (code: ErrorCode) => {
      refusal = new ScanError(code, code)
    },
    /** Runs all due jobs of one kind; returns the delays of those that were postponed. */
    async run(name: string): Promise<number[]> {
      const postponed: number[] = []
      const due = memory.due().filter((item) => item.job === name)
      const ids = due.map(({ contractId }) => contractId)
      const selected = (await job(name).select?.(ids, deps)) ?? ids
      for (const id of selected)
        await job(name).process(id, { ...deps, signal, postponeBy: (ms) => postponed.push(ms) })
      return postponed
    },
  }
}

const entryOf = (scenario: Scenario, actor: Actor, name: string) => {
  scenario.register(actor, name)
  const [idle] = scenario.ledger.byKey(`party:SubscriptionIdleState:${actor.party}`)
  return { idle: String(idle?.contractId), reference: String(idle?.payload['reference']) }
}

it('a renewal is paid inside its window, for hosted owners who asked for it', async () => {
  const world = createWorld((scenario) => [scenario.actor('alice'), scenario.actor('bob')])
  const { scenario, actors, renewed, paid } = world
  const [alice, bob] = actors as [Actor, Actor]
  const carol = scenario.actor('carol')
  const wanted = entryOf(scenario, alice, 'alice.unverified.ns')
  entryOf(scenario, bob, 'bob.unverified.ns')
  renewed.add(wanted.reference)
  renewed.add(entryOf(scenario, carol, 'carol.unverified.ns').reference)
  await world.run('renew-subscription')
  expect(paid).toEqual([])
  scenario.ledger.advance(61 * DAY_MICROS)
  expect(await world.run('renew-subscription')).toEqual([])
  expect(paid).toEqual([wanted.idle])
  scenario.ledger.advance(30 * DAY_MICROS)
  await world.run('renew-subscription')
  expect(paid).toEqual([wanted.idle])
})

it.each([
  ['INSUFFICIENT_FUNDS', [60_000]],
  ['LIMIT_EXCEEDED', [60_000]],
  ['paused', [60_000]],
] as const)('a renewal that is not paid (%s) is postponed', async (reason, postponed) => {
  const world = createWorld((scenario) => [scenario.actor('alice')])
  const [alice] = world.actors as [Actor]
  world.renewed.add(entryOf(world.scenario, alice, 'alice.unverified.ns').reference)
  world.scenario.ledger.advance(61 * DAY_MICROS)
  if (reason === 'paused') world.pause()
  else world.refuse(reason)
  expect(await world.run('renew-subscription')).toEqual(postponed)
})

// PERMISSION_DENIED: such as a party that another participant hosts, which no administrator lifts.
it.each(['SUBMISSION_UNKNOWN', 'PERMISSION_DENIED'] as const)(
  'any other error of a renewal is thrown: %s',
  async (code) => {
    const world = createWorld((scenario) => [scenario.actor('alice')])
    const [alice] = world.actors as [Actor]
    world.renewed.add(entryOf(world.scenario, alice, 'alice.unverified.ns').reference)
    world.scenario.ledger.advance(61 * DAY_MICROS)
    world.refuse(code)
    await expect(world.run('renew-subscription')).rejects.toMatchObject({ code })
  },
)

it.each([
  [30 * DAY_MICROS, 60_000],
  [600_000_000, 30_000],
  [8_000_000, 1_000],
  [1, 1_000],
])('with %d µs of the window left, the next attempt is due after %d ms', (leftMicros, ms) => {
  expect(retryMs(leftMicros)).toBe(ms)
})

it('a first or renewal payment of a hosted party is refunded when its lock ends', async () => {
  const world = createWorld((scenario) => [scenario.actor('alice'), scenario.actor('bob')])
  const { scenario } = world
  const [alice, bob] = world.actors as [Actor, Actor]
  const carol = scenario.actor('carol')
  const { idle } = entryOf(scenario, alice, 'alice.unverified.ns')
  scenario.ledger.advance(61 * DAY_MICROS)
  scenario.tap(alice, '200')
  scenario.do(alice, makePaymentCommand({ idle, inputs: scenario.coins(alice) }))
  for (const actor of [bob, carol]) {
    scenario.tap(actor, '200')
    scenario.pay(actor, `${actor === bob ? 'bob' : 'carol'}.unverified.ns`)
  }
  await world.run('expire-payment')
  expect(scenario.balance(bob).locked).toBe(amountOf('200'))
  scenario.ledger.advance(3 * scenario.network.genesis.coin.tickMicros)
  await world.run('expire-payment')
  expect(scenario.ledger.all(subscriptionPayment)).toEqual([])
  // The payment of another validator's party is left to that one, or to a super-validator.
  const left = scenario.ledger.all(subscriptionInitialPayment)
  expect(left.map(({ payload }) => payload.subscriptionData.sender)).toEqual([carol.party])
  for (const actor of [alice, bob])
    expect(scenario.balance(actor)).toEqual({ unlocked: amountOf('200'), locked: 0n })
})

it.each([
  ['the sender', 0],
  ['the receiver', 1],
])('an expired offer is ended by the validator that hosts %s', async (_, hostedIndex) => {
  let pair: readonly Actor[] = []
  const world = createWorld((scenario) => {
    pair = [scenario.actor('alice'), scenario.actor('bob')]
    return pair.slice(hostedIndex, hostedIndex + 1)
  })
  const { scenario } = world
  const [alice, bob] = pair as [Actor, Actor]
  const tenMinutes = 600_000_000
  scenario.do(
    alice,
    createTransferInstructionCommand({
      coinRules: scenario.ledger.byKey('singleton:CoinRules')[0]?.contractId ?? '',
      sender: alice.party,
      receiver: bob.party,
      amount: amountOf('5'),
      inputs: [scenario.tap(alice, '5')],
      executeBefore: scenario.ledger.head().recordTime + tenMinutes,
      description: '',
      trackingId: '',
    }),
  )
  await world.run('expire-offer')
  expect(scenario.ledger.all(transferInstruction)).toHaveLength(1)
  scenario.ledger.advance(tenMinutes)
  await world.run('expire-offer')
  expect(scenario.ledger.all(transferInstruction)).toEqual([])
  expect(scenario.balance(alice)).toEqual({ unlocked: amountOf('5'), locked: 0n })
})

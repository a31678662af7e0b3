/**
 * The operator jobs of four super-validators on real queues, over the real ledger in memory.
 *
 * @module-tag rest
 */
import { createSystemClock, systemRandom } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import {
  type AppliedEntry,
  acceptRequestCommand,
  allocatePartyCommand,
  ansEntry,
  ansEntryContext,
  type DueItem,
  errorCodeOf,
  type Ledger,
  openMiningRound,
  requestEntryCommand,
  subscriptionInitialPayment,
  subscriptionRequest,
  svPartyOf,
  tapCommand,
} from '@quorumscan/ledger'
import { MemoryLedger } from '@quorumscan/ledger/testing'
import { type Command, type Contract, partyIdOf } from '@quorumscan/model'
import { createMetrics } from '@quorumscan/runtime'
import { createTestNetwork, testKeyPair, untilTrue } from '@quorumscan/testkit'
import { itWithRedis as it, type SharedRedis } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import type { OperatorDeps } from './job.ts'
import { openJobs } from './jobs.ts'
import { operatorJobs } from './operator-jobs.ts'

const clock = createSystemClock()
const network = createTestNetwork({
  names: { entryLifetimeMicros: 90_000_000, renewalDurationMicros: 30_000_000 },
})
const alice = { keyPair: testKeyPair('alice'), party: '' }
alice.party = partyIdOf('alice', alice.keyPair.publicKey) ?? ''

/** The memory ledger, with the ports that jobs use; every submission is an entry at once. */
function createWorld() {
  const memory = new MemoryLedger(network)
  const listeners = new Set<(entry: AppliedEntry) => void>()
  const apply = (bytes: Uint8Array) => {
    const entry = memory.append(bytes)
    for (const listener of listeners) listener(entry)
    return entry.result
  }
  const ledger: Ledger = {
    head: () => memory.head(),
    contracts: async (ids) => ids.map((id) => memory.contract(id)),
    contractsByKey: async (key, options) => memory.byKey(key).slice(0, options?.limit),
    totals: async (keys) => memory.totals(keys),
    isPartyAllocated: async (party) => memory.isPartyAllocated(party),
    dueItems: async ({ job, limit, after }) => {
      const due = memory.due().filter((item) => item.job === job)
      const isSame = (item: DueItem) =>
        item.job === after?.job && item.contractId === after.contractId
      return due.slice(after === null ? 0 : due.findIndex(isSame) + 1).slice(0, limit)
    },
    dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
    onApplied: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const submit = (keyPair: typeof alice.keyPair, actAs: readonly string[], commands: Command[]) => {
    const result = apply(memory.sign({ keyPair, actAs, commands }))
    if (result.kind === 'rejected') throw new ScanError(errorCodeOf(result.code), result.message)
  }
  const asAlice = (command: Command) => submit(alice.keyPair, [alice.party], [command])
  const only = (contracts: readonly Contract[]) => (contracts[0] as Contract).contractId

  submit(alice.keyPair, [], [allocatePartyCommand({ hint: 'alice' })])
  return {
    memory,
    ledger,
    /** A node's dependencies; `refuse` stands for any cause that keeps its submissions from the log. */
    deps(index: number, refuse: () => boolean = () => false): OperatorDeps {
      const keyPair = network.operators[index] as typeof alice.keyPair
      const node = network.genesis.nodes[index] as (typeof network.genesis.nodes)[number]
      return {
        ledger,
        party: svPartyOf(node),
        userId: node.name,
        rewards: null,
        async submit({ actAs, commands }) {
          if (refuse()) throw new ScanError('SUBMISSION_UNKNOWN', 'not seen in time')
          submit(keyPair, actAs, [...commands])
        },
      }
    },
    pay(name: string) {
      asAlice(
        tapCommand({
          coinRules: only(memory.byKey('singleton:CoinRules')),
          receiver: alice.party,
          amount: 1_000n * 10_000_000_000n,
        }),
      )
      asAlice(
        requestEntryCommand({
          ansRules: only(memory.byKey('singleton:AnsRules')),
          user: alice.party,
          name,
          url: '',
          description: '',
        }),
      )
      asAlice(
        acceptRequestCommand({
          request: only(memory.byKey(`party:SubscriptionRequest:${alice.party}`)),
          inputs: memory.byKey(`party:Coin:${alice.party}`).map(({ contractId }) => contractId),
        }),
      )
    },
  }
}

type World = ReturnType<typeof createWorld>

function startOperator(
  redis: SharedRedis,
  world: World,
  options: { index: number; refuse?: () => boolean },
) {
  const logger = { info: () => {}, warn: () => {} }
  const app = { clock, random: systemRandom, logger, metrics: createMetrics(), tracer: null }
  return openJobs(app, {
    redis: { path: redis.socketPath },
    prefix: `jobs-${options.index}`,
    definitions: operatorJobs,
    deps: world.deps(options.index, options.refuse),
    ledger: world.ledger,
    isLive: () => true,
    turn: { index: options.index, count: 4 },
  })
}

const confirmationsOf = (world: World) =>
  world.memory.all(subscriptionInitialPayment).map(({ contractId }) => ({
    payment: contractId,
    count: world.memory.byKey(`confirmations:${contractId}`).length,
  }))

it('a paid name becomes an entry when the third super-validator confirms, not before', async ({
  redis,
}) => {
  const world = createWorld()
  await using _first = await startOperator(redis, world, { index: 0 })
  await using _second = await startOperator(redis, world, { index: 1 })
  world.pay('alice.unverified.ns')
  await untilTrue('two confirmations', () => confirmationsOf(world)[0]?.count === 2)
  expect(world.memory.all(ansEntry)).toEqual([])
  await using _third = await startOperator(redis, world, { index: 2 })
  await untilTrue('the entry', () => world.memory.all(ansEntry).length === 1)
  expect(world.memory.all(ansEntry)[0]?.payload.name).toBe('alice.unverified.ns')
  expect(world.memory.all(subscriptionInitialPayment)).toEqual([])
  expect(await failureCount(redis, 2)).toBe(0)
})

it('submissions with an unknown outcome are repeated until ordered', async ({ redis }) => {
  const world = createWorld()
  let isOrderingAway = true
  let refusals = 0
  const refuse = () => {
    if (isOrderingAway) refusals += 1
    return isOrderingAway
  }
  world.pay('alice.unverified.ns')
  await using _first = await startOperator(redis, world, { index: 0, refuse })
  await using _second = await startOperator(redis, world, { index: 1, refuse })
  await using _third = await startOperator(redis, world, { index: 2, refuse })
  await untilTrue('a second try of each', () => refusals >= 6)
  isOrderingAway = false
  await untilTrue('the entry', () => world.memory.all(ansEntry).length === 1)
})

it('an unrenewed entry and its subscription expire, and rounds advance', async ({ redis }) => {
  const world = createWorld()
  world.pay('alice.unverified.ns')
  await using _first = await startOperator(redis, world, { index: 0 })
  await using _second = await startOperator(redis, world, { index: 1 })
  await using _third = await startOperator(redis, world, { index: 2 })
  await untilTrue('the entry', () => world.memory.all(ansEntry).length === 1)
  const rounds = world.memory.all(openMiningRound).map(({ contractId }) => contractId)
  // The entry lives 90 s, a tick is 10 minutes.
  world.memory.advance(world.memory.genesis.coin.tickMicros)
  await untilTrue('entry and context to be archived', () => {
    const { memory } = world
    return memory.all(ansEntry).length === 0 && memory.all(ansEntryContext).length === 0
  })
  await untilTrue('the first round to close', () => {
    const open = world.memory.all(openMiningRound).map(({ contractId }) => contractId)
    return open.length === 3 && open.some((round) => !rounds.includes(round))
  })
})

it('a payment that is not confirmed in time is refunded by one super-validator alone', async ({
  redis,
}) => {
  const world = createWorld()
  world.pay('alice.unverified.ns')
  const [payment] = world.memory.all(subscriptionInitialPayment)
  const lockMicros = (payment?.payload.lockExpiresAt ?? 0) - world.memory.head().recordTime
  world.memory.advance(lockMicros)
  await using _only = await startOperator(redis, world, { index: 3 })
  await untilTrue('the refund', () => world.memory.all(subscriptionInitialPayment).length === 0)
  expect(world.memory.all(ansEntry)).toEqual([])
  expect(world.memory.byKey(`party:LockedCoin:${alice.party}`)).toEqual([])
})

it('an unpaid request is archived with its context at its expiry', async ({ redis }) => {
  const world = createWorld()
  world.memory.submit({
    keyPair: alice.keyPair,
    actAs: [alice.party],
    commands: [
      requestEntryCommand({
        ansRules: (world.memory.byKey('singleton:AnsRules')[0] as Contract).contractId,
        user: alice.party,
        name: 'late.unverified.ns',
        url: '',
        description: '',
      }),
    ],
  })
  expect(world.memory.all(subscriptionRequest)).toHaveLength(1)
  await using _only = await startOperator(redis, world, { index: 0 })
  world.memory.advance(world.memory.genesis.names.requestLifetimeMicros)
  await untilTrue(
    'the request to be archived',
    () => world.memory.all(ansEntryContext).length === 0,
  )
  expect(world.memory.all(subscriptionRequest)).toEqual([])
})

it('after an outage each due round is closed once, oldest first, also by one node alone', async ({
  redis,
}) => {
  const world = createWorld()
  const numbers = () =>
    world.memory
      .all(openMiningRound)
      .map(({ payload }) => payload.round.number)
      .sort((a, b) => a - b)
  world.memory.advance(3 * world.memory.genesis.coin.tickMicros)
  expect(numbers()).toEqual([0, 1, 2])
  await using _jobs = await startOperator(redis, world, { index: 0 })
  await untilTrue('the oldest round to close', () => numbers()[0] !== 0)
  // The next due round may have been closed since.
  const [first = 0] = numbers()
  expect(numbers()).toEqual([first, first + 1, first + 2])
  expect(await failureCount(redis, 0)).toBe(0)
})

async function failureCount(redis: SharedRedis, index: number): Promise<number> {
  const client = redis.connect()
  try {
    return await client.llen(`jobs-${index}:failures`)
  } finally {
    client.disconnect()
  }
}

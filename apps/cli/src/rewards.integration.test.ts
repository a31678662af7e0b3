/**
 * Rewards of a super-validator whose node runs: sent by its operator, and by the node itself.
 *
 * @module-tag rest
 */
import { type Clock, readKeyPair } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { acceptTransferCommand } from '@quorumscan/ledger'
import { AMOUNT_SCALE } from '@quorumscan/model'
import { createRewards } from '@quorumscan/operator/rewards'
import { openReplicaReads } from '@quorumscan/replica'
import { startNetwork } from '@quorumscan/scan/testing'
import { until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'

const ROUND_MICROS = 600_000_000
/** The reward of a round. */
const TEN = 10n * AMOUNT_SCALE

type Submit = (bytes: Uint8Array) => Promise<void>

const it = base.extend('world', async ({ resources }) => {
  const network = resources.opened(await startNetwork(1))
  const [redis] = network.nodeRedis
  const { operatorKeyFile, nodeName: name } = await network.config(0)
  const keyPair = await readKeyPair(operatorKeyFile)
  const { genesis, genesisHash } = network
  const address = { path: redis?.socketPath ?? '' }
  let node = await network.startNode(0)
  resources.onClose(() => node[Symbol.asyncDispose]())
  const reads = { redis: address, genesis, genesisHash, clock: network.clock }
  const ledger = await openReplicaReads(reads)
  resources.onClose(() => ledger[Symbol.dispose]())
  const rewards = (submit: Submit = network.append, clock: Clock = network.clock) =>
    createRewards({ name, genesis, keyPair, ledger, log: { submit }, clock })
  const own = rewards()
  const alice = await network.createWallet('alice')
  await untilTrue('the node to apply the party', () => ledger.isPartyAllocated(alice.party))
  const offers = () => ledger.contractsByKey(`offers:${own.party}`)
  return {
    network,
    rewards,
    own,
    alice,
    offers,
    /** Closes a round, whose reward is ten coin. */
    async earn(total: string) {
      await network.advance(ROUND_MICROS)
      await untilTrue('the reward', async () => (await own.balance()).available === total)
    },
    async restart(options: Parameters<typeof network.startNode>[1]) {
      await node[Symbol.asyncDispose]()
      node = await network.startNode(0, options)
    },
    async accept() {
      const offer = await until('an offer', async () => (await offers())[0])
      await alice.submit(acceptTransferCommand({ instruction: offer.contractId }))
      await untilTrue('the node to apply it', async () => (await offers()).length === 0)
    },
  }
})

it('a transfer is sent once for each id, and leaves the rest', async ({ world }) => {
  const { own, alice, offers } = world
  await world.earn('10.0000000000')
  const transfer = { receiver: alice.party, amount: 3n * AMOUNT_SCALE, id: 'one' }
  await own.send(transfer)
  expect(await own.balance()).toMatchObject({
    available: '7.0000000000',
    offered: '3.0000000000',
  })
  await world.accept()
  await expect(own.send(transfer)).rejects.toThrow('the same transfer was sent within the last 1d')
  await own.send({ ...transfer, id: 'another' })
  expect(await offers()).toHaveLength(1)
  expect(await own.balance()).toMatchObject({ available: '4.0000000000' })
})

it('a transfer whose answer is lost is sent once', async ({ world }) => {
  const { network, alice, offers } = world
  await world.earn('10.0000000000')
  const transfer = { receiver: alice.party, amount: AMOUNT_SCALE, id: 'one' }
  const lost = new ScanError('DEPENDENCY_UNAVAILABLE', 'no answer')
  await world
    .rewards(async (bytes) => {
      await network.append(bytes)
      throw lost
    })
    .send(transfer)
  expect(await offers()).toHaveLength(1)

  // The log receives nothing at first, and the bytes of the first command after those of the second.
  const late: Uint8Array[] = []
  let passedMs = 0
  const fast: Clock = {
    ...network.clock,
    monotonicMs: () => network.clock.monotonicMs() + passedMs,
    async delay(ms, signal) {
      passedMs += ms
      await network.clock.delay(1, signal)
    },
  }
  const hung = world.rewards(async (bytes) => {
    late.push(bytes)
    throw lost
  }, fast)
  const second = { ...transfer, id: 'two' }
  await expect(hung.send(second)).rejects.toThrow('not known whether the coin was sent')
  await world.own.send(second)
  const before = await world.own.balance()
  await network.append(late[0] as Uint8Array)
  await world.own.send({ ...transfer, id: 'three' })
  expect(await offers()).toHaveLength(3)
  expect([before.available, (await world.own.balance()).available]).toEqual([
    '8.0000000000',
    '7.0000000000',
  ])
})

it('invalid transfers send nothing, and are errors of usage', async ({ world }) => {
  const { own, alice, offers } = world
  await world.earn('10.0000000000')
  const valid = { receiver: alice.party, amount: AMOUNT_SCALE, id: 'one' }
  for (const [change, reason] of [
    [{ receiver: 'alice' }, '"alice" is no party of this network'],
    [{ receiver: alice.party.replace('alice', 'bob') }, 'is no party of this network'],
    [{ receiver: own.party }, 'this party has the rewards already'],
    [{ amount: TEN + 1n }, 'the party has 10.0000000000 coin that is not offered or locked'],
  ] as const)
    await expect(own.send({ ...valid, ...change })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(reason),
    })
  expect(await offers()).toEqual([])
})

it('a node offers what exceeds the kept coin', async ({ world }) => {
  const { alice, offers } = world
  await world.earn('10.0000000000')
  await world.restart({ rewards: { to: alice.party, keep: 4n * AMOUNT_SCALE } })
  const offered = await until('an offer', async () => (await offers())[0])
  expect(offered.payload['transfer']).toMatchObject({
    receiver: alice.party,
    amount: '6.0000000000',
  })
  await world.accept()
  await world.network.advance(ROUND_MICROS)
  await until('the offer of the next reward', async () => (await offers())[0])
  expect(await world.own.balance()).toMatchObject({ available: '4.0000000000' })
})

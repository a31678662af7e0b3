/** The jobs for the coin of a super-validator over the real ledger in memory, without queues. */
import { ScanError } from '@quorumscan/errors'
import {
  acceptTransferCommand,
  errorCodeOf,
  type Ledger,
  TRANSFER_INPUTS_MAX,
  transferInstruction,
} from '@quorumscan/ledger'
import { type Actor, amountOf, Scenario } from '@quorumscan/ledger/testing'
import type { Contract } from '@quorumscan/model'
import { expect, it } from 'vitest'
import type { OperatorDeps } from './job.ts'
import { OFFER_MICROS, rewardJobs } from './reward-jobs.ts'

const { signal } = new AbortController()

/** A super-validator that keeps 20 coin, and sends the others to a treasury. */
function createWorld(rewardsTo: (treasury: Actor) => string = ({ party }) => party) {
  const scenario = new Scenario()
  const { ledger: memory } = scenario
  const [sv] = scenario.svs as [Actor]
  const treasury = scenario.actor('treasury')
  /** What was read before the node began to lag. */
  const seen = new Map<string, Contract>()
  const seenByKey = new Map<string, readonly Contract[]>()
  let isLagging = false
  const ledger: Ledger = {
    head: () => memory.head(),
    contracts: async (ids) =>
      ids.map((id) => (isLagging ? seen.get(id) : memory.contract(id)) ?? null),
    async contractsByKey(key, options) {
      const contracts = isLagging ? seenByKey.get(key) : memory.byKey(key)
      seenByKey.set(key, contracts ?? [])
      for (const contract of contracts ?? []) seen.set(contract.contractId, contract)
      return (contracts ?? []).slice(0, options?.limit)
    },
    totals: async (keys) => memory.totals(keys),
    isPartyAllocated: async (party) => memory.isPartyAllocated(party),
    dueItems: async () => [],
    dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
    onApplied: () => () => {},
  }
  let isAnswerLost = false
  const deps: OperatorDeps = {
    ledger,
    party: sv.party,
    userId: 'sv-1',
    rewards: { to: rewardsTo(treasury), keep: amountOf('20') },
    async submit({ actAs: [party], commands, disclosed }) {
      expect([party, disclosed?.length]).toEqual([sv.party, 1])
      const result = scenario.submit(sv, commands)
      if (result.kind === 'rejected') throw new ScanError(errorCodeOf(result.code), result.message)
      if (isAnswerLost) throw new ScanError('SUBMISSION_UNKNOWN', 'not seen in time')
    },
  }
  return {
    scenario,
    treasury,
    earn: (count: number) => {
      for (let round = 0; round < count; round++) scenario.tap(sv, '10')
    },
    coins: () => scenario.coins(sv).length,
    unlocked: () => scenario.balance(sv).unlocked,
    offers: () => memory.all(transferInstruction),
    loseAnswers: (isLost: boolean) => {
      isAnswerLost = isLost
    },
    lag: (isBehind: boolean) => {
      isLagging = isBehind
    },
    /** Runs a job for all that is due, and returns for how many contracts it was. */
    async run(name: string, due?: readonly string[]): Promise<readonly string[]> {
      const job = rewardJobs.find((one) => one.name === name)
      const ids = due ?? (await job?.due?.(deps)) ?? []
      for (const id of ids) await job?.process(id, { ...deps, signal, postponeBy: () => {} })
      return ids
    },
  }
}

it('what exceeds the kept coin is offered once, and again when the offer was accepted', async () => {
  const world = createWorld()
  world.earn(2)
  expect(await world.run('send-rewards')).toEqual([])
  world.earn(3)
  await world.run('send-rewards')
  world.earn(1)
  expect(await world.run('send-rewards')).toEqual([])
  const offered = world.offers().map(({ payload }) => payload.transfer)
  expect(offered).toMatchObject([{ receiver: world.treasury.party, amount: amountOf('30') }])
  expect(world.unlocked()).toBe(amountOf('30'))

  const [offer] = world.offers()
  world.scenario.do(world.treasury, acceptTransferCommand({ instruction: offer?.contractId ?? '' }))
  await world.run('send-rewards')
  expect(world.offers()[0]?.payload.transfer.amount).toBe(amountOf('10'))
})

it('a transfer whose answer was lost is not repeated, also by a node that has not seen it', async () => {
  const world = createWorld()
  world.earn(5)
  world.loseAnswers(true)
  await expect(world.run('send-rewards')).rejects.toThrow('not seen in time')
  const [offer] = world.offers()
  const instruction = offer?.contractId ?? ''
  const sent = offer?.payload.transfer.trackingId.replace('rewards-', '') ?? ''
  world.scenario.do(world.treasury, acceptTransferCommand({ instruction }))
  world.loseAnswers(false)
  world.lag(true)
  await expect(world.run('send-rewards', [sent])).rejects.toThrow('no active contract')
  world.lag(false)
  await world.run('send-rewards', [sent])
  expect(world.offers()).toEqual([])
  expect(world.unlocked()).toBe(amountOf('20'))
})

it('a receiver that the network does not know is an error, and costs no coin', async () => {
  const world = createWorld(({ party }) => party.replace('treasury', 'unknown'))
  world.earn(5)
  await expect(world.run('send-rewards')).rejects.toThrow(
    'QS_REWARDS_TO is no party of this network',
  )
  expect(world.unlocked()).toBe(amountOf('50'))
})

it('coin of an offer that was not accepted returns', async () => {
  const world = createWorld()
  world.earn(5)
  await world.run('send-rewards')
  expect(await world.run('return-rewards')).toEqual([])
  world.scenario.ledger.advance(OFFER_MICROS)
  await world.run('return-rewards')
  expect(world.offers()).toEqual([])
  expect(world.unlocked()).toBe(amountOf('50'))
})

it('coins are merged when a transfer could not take all of them, and then sent', async () => {
  const world = createWorld()
  world.earn(TRANSFER_INPUTS_MAX)
  expect(await world.run('merge-rewards')).toEqual([])
  world.earn(1)
  expect(await world.run('send-rewards')).toEqual([])
  await world.run('merge-rewards')
  expect(world.coins()).toBe(2)
  await world.run('send-rewards')
  expect(world.offers()[0]?.payload.transfer.amount).toBe(amountOf('990'))
})

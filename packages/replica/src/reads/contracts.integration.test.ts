import { MemoryLedger, type Scenario } from '@quorumscan/ledger/testing'
import { createManualClock, startRedis } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { openReplica } from '../replica.ts'
import { createLayout } from '../storage/layout.ts'
import { createMemoryOrdering } from '../testing/memory-ordering.ts'
import { growRandomLog } from '../testing/random-log.ts'
import { type JoinedContracts, readJoinedContracts } from './contracts.ts'

/** Reads joined while the log is applied one entry at a time; gives back what was read. */
async function readMeanwhile(scenario: Scenario, keys: readonly string[], portion: number) {
  await using redis = await startRedis()
  const { genesis, genesisHash } = scenario.network
  const end = scenario.ledger.head()
  await using replica = await openReplica({
    redis: { path: redis.socketPath },
    genesis,
    genesisHash,
    clock: createManualClock(end.recordTime),
  })
  const ordering = createMemoryOrdering(scenario.ledger.entries(), () => 1)
  const ended = new AbortController()
  const running = replica.run(ordering, ended.signal)
  const connection = redis.connect()
  const layout = createLayout({ genesis, genesisHash })
  const reads: JoinedContracts[] = []
  while (reads.at(-1)?.offset !== end.offset)
    await readJoinedContracts({ redis: connection, layout }, keys, 10_000, portion).then(
      (read) => reads.push(read),
      (error: unknown) => expect(error).toMatchObject({ code: 'OVERLOADED' }),
    )
  connection.disconnect()
  ended.abort()
  await running
  return reads
}

const idsOf = (contracts: readonly { readonly contractId: string }[]) =>
  contracts.map(({ contractId }) => contractId)

it.each([1_000, 3])(
  'contracts of several keys are read atomically, in portions of %d',
  async (portion) => {
    const scenario = growRandomLog('joined', 100)
    const parties = ['alice', 'bob'].map(
      (hint) =>
        scenario.ledger
          .contracts()
          .flatMap(({ signatories }) => signatories)
          .find((party) => party.startsWith(`${hint}::`)) ?? '',
    )
    const keys = parties.flatMap((party) =>
      ['Coin', 'LockedCoin', 'SubscriptionRequest', 'SubscriptionInitialPayment', 'AnsEntry'].map(
        (entity) => `party:${entity}:${party}`,
      ),
    )
    const replayed = new MemoryLedger(scenario.network)
    const idsAt = [keys.map(() => [] as string[])]
    for (const { bytes, recordTime } of scenario.ledger.entries()) {
      replayed.append(bytes, recordTime)
      idsAt.push(keys.map((key) => idsOf(replayed.byKey(key))))
    }
    expect(Math.max(...idsAt.flat().map((ids) => ids.length))).toBeGreaterThan(3)
    const reads = await readMeanwhile(scenario, keys, portion)
    expect(new Set(reads.map(({ offset }) => offset)).size).toBeGreaterThan(10)
    for (const { offset, contracts } of reads)
      expect(
        contracts.map((list) => idsOf(list).sort()),
        `at ${offset}`,
      ).toEqual(idsAt[offset])
  },
)

it('reads at most the limit of contracts of each key', async ({ redis }) => {
  const scenario = growRandomLog('joined', 20)
  const { genesis, genesisHash } = scenario.network
  const clock = createManualClock(genesis.recordTime)
  await using replica = await openReplica({
    redis: { path: redis.socketPath },
    genesis,
    genesisHash,
    clock,
  })
  const { contracts, offset } = await replica.contractsByKeys(
    ['rounds', 'nothing', 'singleton:DsoRules'],
    { limit: 2 },
  )
  expect([offset, contracts.map((each) => each.length)]).toEqual([0, [2, 0, 1]])
})

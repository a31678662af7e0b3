import { advanceRoundsCommand, tapCommand, WorkingState } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { startRedis, type TestRedis } from '@quorumscan/testkit'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchCells } from './cells.ts'
import { loadOrStart } from './genesis.ts'
import { interpretBatch } from './interpret-batch.ts'
import { dryRun } from './ledger-reads.ts'
import { type Mirror, writeSteps } from './store.ts'

let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = server.connect()
})
afterAll(async () => {
  redis.disconnect()
  await server[Symbol.asyncDispose]()
})

const { signal } = new AbortController()

async function apply(scenario: Scenario, mirror: Mirror): Promise<void> {
  const steps = await interpretBatch(
    scenario.ledger.entries().slice(mirror.head.offset),
    mirror.head,
    {
      ...scenario.network,
      state: new WorkingState(),
      fetch: (keys) => fetchCells(redis, keys),
    },
  )
  await writeSteps(redis, mirror, { steps, signal })
}

/** The same connection, on which something happens before the n-th fetch. */
function interrupted(count: number, work: () => Promise<void>): Redis {
  let fetches = 0
  return new Proxy(redis, {
    get(target, member) {
      if (member !== 'pipeline') return Reflect.get(target, member).bind?.(target)
      return () => {
        const pipeline = target.pipeline()
        const exec = pipeline.exec.bind(pipeline)
        fetches++
        if (fetches === count) pipeline.exec = () => work().then(() => exec())
        return pipeline
      }
    },
  })
}

test.each([1, 2, 3, 4])(
  'a dry run that the ledger overtakes at its fetch %i starts anew',
  async (at) => {
    const scenario = new Scenario({ coin: { tickMicros: 10_000_000 } })
    const alice = scenario.actor('alice')
    await redis.flushall()
    const mirror = await loadOrStart(redis, scenario.network, signal)
    await apply(scenario, mirror)
    const coinRules = scenario.ledger.byKey('singleton:CoinRules')[0]?.contractId ?? ''
    const dsoRules = scenario.ledger.byKey('singleton:DsoRules')[0]?.contractId ?? ''
    const sv = scenario.svs[0]
    if (sv === undefined) throw new Error('a super-validator')
    let interruptions = 0
    const racing = interrupted(at, async () => {
      interruptions++
      // A round closes, which the dry run may have found open.
      scenario.ledger.advance(15_000_000)
      scenario.do(sv, advanceRoundsCommand({ dsoRules, sv: sv.party }))
      await apply(scenario, mirror)
    })
    const result = await dryRun(
      racing,
      {
        genesis: scenario.network.genesisHash,
        participant: alice.keyPair.publicKey,
        id: '00'.repeat(16),
        notAfter: mirror.head.recordTime + 60_000_000,
        userId: 'tester',
        actAs: [alice.party],
        readAs: [],
        commandId: 'command',
        submissionId: '',
        workflowId: '',
        deduplication: { kind: 'duration', micros: 0 },
        commands: [tapCommand({ coinRules, receiver: alice.party, amount: 1n })],
        disclosed: [],
      },
      { ...scenario.network, now: 0 },
    )
    expect(interruptions).toBe(1)
    expect(result.kind === 'ignored' ? result.reason : result.kind).toBe('accepted')
  },
)

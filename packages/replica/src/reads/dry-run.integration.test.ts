import { advanceRoundsCommand, disclose, tapCommand, WorkingState } from '@quorumscan/ledger'
import { Scenario, submissionOf } from '@quorumscan/ledger/testing'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { loadOrStart } from '../ingest/genesis.ts'
import { interpretBatch } from '../ingest/interpret-batch.ts'
import { createLayout } from '../storage/layout.ts'
import { type HeadState, writeSteps } from '../storage/store.ts'
import { fetchCells } from './cells.ts'
import { dryRun } from './dry-run.ts'

const it = itWithRedis
  .extend(
    'apply',
    ({ connection }) =>
      async (scenario: Scenario, headState: HeadState): Promise<void> => {
        const layout = createLayout(scenario.network)
        const steps = await interpretBatch(
          scenario.ledger.entries().slice(headState.head.offset),
          headState.head,
          {
            ...scenario.network,
            state: new WorkingState(),
            fetch: (keys) => fetchCells({ redis: connection, layout }, keys),
          },
        )
        await writeSteps(connection, headState, { steps, layout, signal })
      },
  )
  /** The same connection, with `work` done before its n-th fetch. */
  .extend('interrupted', ({ connection }) => (count: number, work: () => Promise<void>): Redis => {
    let fetches = 0
    return new Proxy(connection, {
      get(target, member) {
        if (member !== 'callBuffer') return Reflect.get(target, member).bind?.(target)
        // The script that reads contracts.
        return async (command: string, args: Parameters<Redis['callBuffer']>[1]) => {
          fetches++
          if (fetches === count) await work()
          return target.callBuffer(command, args)
        }
      },
    })
  })
const { signal } = new AbortController()

// A fetch of a key also returns its contracts: a tap needs two fetches.
it.for([1, 2])(
  'a dry run starts again if the head moves before its fetch %i',
  async (at, { connection, apply, interrupted }) => {
    const scenario = new Scenario({ coin: { tickMicros: 10_000_000 } })
    const alice = scenario.actor('alice')
    const layout = createLayout(scenario.network)
    const headState = await loadOrStart(connection, { ...scenario.network, layout }, signal)
    await apply(scenario, headState)
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
      await apply(scenario, headState)
    })
    const { result } = await dryRun(
      { redis: racing, layout },
      submissionOf({
        genesis: scenario.network.genesisHash,
        participant: alice.keyPair.publicKey,
        notAfter: headState.head.recordTime + 60_000_000,
        actAs: [alice.party],
        commands: [tapCommand({ coinRules, receiver: alice.party, amount: 1n })],
        disclosed: scenario.ledger.byKey('singleton:CoinRules').map(disclose),
      }),
      { ...scenario.network, now: 0 },
    )
    expect(interruptions).toBe(1)
    expect(result.kind === 'ignored' ? result.reason : result.kind).toBe('accepted')
  },
)

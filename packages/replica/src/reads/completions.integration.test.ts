import { tapCommand, WorkingState } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { type Offset, participantOfKey } from '@quorumscan/model'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { loadOrStart } from '../ingest/genesis.ts'
import { interpretBatch } from '../ingest/interpret-batch.ts'
import { createLayout } from '../storage/layout.ts'
import { writeSteps } from '../storage/store.ts'
import { fetchCells } from './cells.ts'
import { readCompletions } from './completions.ts'

const { signal } = new AbortController()

it('a participant finds the completions of its own submissions by offset', async ({
  redis: server,
}) => {
  const redis = server.connect()
  const scenario = new Scenario()
  const alice = scenario.actor('alice')
  const bob = scenario.actor('bob')
  const coinRules = scenario.ledger.byKey('singleton:CoinRules')[0]?.contractId ?? ''
  const tap = (actor: typeof alice, amount: bigint, more = {}) => {
    scenario.submit(actor, tapCommand({ coinRules, receiver: actor.party, amount }), more)
    return scenario.ledger.head().offset
  }
  const same = { commandId: 'c', deduplication: { kind: 'duration', micros: 1000 } } as const
  const accepted = tap(alice, 1n, { ...same, submissionId: 's' })
  tap(bob, 1n)
  const refused = tap(alice, 0n)
  const repeated = tap(alice, 1n, same)
  scenario.ledger.advance(1_000_000)

  const layout = createLayout(scenario.network)
  const headState = await loadOrStart(redis, { ...scenario.network, layout }, signal)
  const steps = await interpretBatch(scenario.ledger.entries(), headState.head, {
    ...scenario.network,
    participant: participantOfKey(alice.keyPair.publicKey),
    state: new WorkingState(),
    fetch: (keys) => fetchCells({ redis, layout }, keys),
  })
  await writeSteps(redis, headState, { steps, layout, signal })

  const read = (after: Offset, upTo: Offset, limit = 10) =>
    readCompletions(redis, { after, upTo, limit })
  const all = await read(0, headState.head.offset)
  expect(all).toMatchObject([
    {
      offset: accepted,
      entryHash: steps[accepted - 1]?.entryHash,
      recordTime: steps[accepted - 1]?.recordTime,
      completion: { actAs: [alice.party], ...same, submissionId: 's' },
      outcome: { kind: 'accepted', updateId: expect.stringMatching(/^1220/) },
    },
    { offset: refused, outcome: { kind: 'rejected', code: 'INVALID_ARGUMENT' } },
    {
      offset: repeated,
      outcome: {
        code: 'DUPLICATE_COMMAND',
        prior: { offset: accepted, submissionId: 's' },
      },
    },
  ])
  expect(await read(accepted, repeated - 1)).toEqual([all[1]])
  expect(await read(0, repeated, 2)).toEqual(all.slice(0, 2))
  redis.disconnect()
})

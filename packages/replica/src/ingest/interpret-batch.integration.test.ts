import { acceptRequestCommand, genesisDelta, type LogEntry, WorkingState } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { fetchCells } from '../reads/cells.ts'
import { createLayout } from '../storage/layout.ts'
import { type HeadState, writeSteps } from '../storage/store.ts'
import { loadOrStart } from './genesis.ts'
import { interpretBatch } from './interpret-batch.ts'

const it = itWithRedis.extend(
  'interpretCounted',
  ({ connection }) =>
    async (headState: HeadState, entries: readonly LogEntry[], scenario: Scenario) => {
      const state = new CountingState()
      let fetches = 0
      const steps = await interpretBatch(entries, headState.head, {
        ...scenario.network,
        state,
        fetch: (keys) => {
          fetches++
          return fetchCells({ redis: connection, layout: createLayout(scenario.network) }, keys)
        },
      })
      return { steps, fetches, looks: state.looks }
    },
)
/** Counts interpretations: each one reads whether the entry was applied before. */
class CountingState extends WorkingState {
  looks = 0
  override seen(id: string) {
    this.looks++
    return super.seen(id)
  }
}

const { signal } = new AbortController()

it('steps of many parties side by side share a few round trips', async ({
  connection,
  interpretCounted,
}) => {
  const scenario = new Scenario()
  const actors = Array.from({ length: 20 }, (_, index) => scenario.actor(`party-${index}`, 'one'))
  for (const actor of actors) scenario.tap(actor, '200')
  const setUp = scenario.ledger.entries().length
  const requests = actors.map((actor, index) =>
    scenario.request(actor, `name-${index}.unverified.ns`),
  )
  for (const [index, actor] of actors.entries())
    scenario.do(
      actor,
      acceptRequestCommand({
        request: requests[index]?.request ?? '',
        inputs: scenario.coins(actor),
      }),
    )
  const layout = createLayout(scenario.network)
  const headState = await loadOrStart(connection, { ...scenario.network, layout }, signal)
  const entries = scenario.ledger.entries()
  const first = await interpretCounted(headState, entries.slice(0, setUp), scenario)
  await writeSteps(connection, headState, { steps: first.steps, layout, signal })
  const { steps, fetches } = await interpretCounted(headState, entries.slice(setUp), scenario)
  expect(steps.at(-1)?.historyHash).toBe(scenario.ledger.head().historyHash)
  expect(fetches).toBeLessThanOrEqual(10)
})

it('the work for entries that depend on each other is linear in their number', async ({
  connection,
  interpretCounted,
}) => {
  const scenario = new Scenario()
  for (let index = 0; index < 10; index++)
    scenario.register(scenario.actor(`party-${index}`, 'one'), `name-${index}.unverified.ns`)
  const layout = createLayout(scenario.network)
  const headState = await loadOrStart(connection, { ...scenario.network, layout }, signal)
  const entries = scenario.ledger.entries()
  const { steps, fetches, looks } = await interpretCounted(headState, entries, scenario)
  expect(steps.at(-1)?.historyHash).toBe(scenario.ledger.head().historyHash)
  expect(fetches / entries.length).toBeLessThan(0.5)
  expect(looks / entries.length).toBeLessThan(12)
})

it('a batch of many bytes yields to other work', async () => {
  const { network } = new Scenario()
  const bytes = new Uint8Array(128 * 1024).fill(1)
  const entries = Array.from({ length: 16 }, (_, index) => ({
    offset: index + 1,
    recordTime: network.genesis.recordTime + index + 1,
    bytes,
  }))
  const head = {
    offset: 0,
    recordTime: network.genesis.recordTime,
    historyHash: network.genesisHash,
    entryHash: network.genesisHash,
  }
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  // Answers at once, so that only the batch itself can yield.
  const fetch: Parameters<typeof interpretBatch>[2]['fetch'] = async (keys) =>
    keys.flatMap((key) => (key.kind === 'index' ? [{ ...key, value: [] }] : []))
  const state = new WorkingState()
  state.apply(genesisDelta(network.genesis, network.genesisHash))
  const steps = await interpretBatch(entries, head, {
    ...network,
    state,
    fetch,
  })
  isDone = true
  expect(steps).toHaveLength(16)
  // It yields while it decodes entries, and while it interprets them.
  expect(turns).toBeGreaterThanOrEqual(2 * 16)
})

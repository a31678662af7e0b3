import { type EntryResult, partyParticipant } from '@quorumscan/model'
import { createManualClock } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { PRUNED_FIELD } from '../ingest/plan-histories.ts'
import { openReplica, type Replica } from '../replica.ts'
import { KEYS } from '../storage/keys.ts'
import { createMemoryOrdering } from '../testing/memory-ordering.ts'
import { growRandomLog } from '../testing/random-log.ts'

const { network, ledger, svs } = growRandomLog('archivals', 150)
const log = ledger.entries()

type Life = { readonly created: number; archived?: number }

/** Where each contract began and ended, as the ledger itself says. */
function livesOf(results: readonly EntryResult[]): ReadonlyMap<string, Life> {
  const lives = new Map<string, Life>()
  for (const [index, result] of results.entries()) {
    if (result.kind !== 'accepted') continue
    const offset = log[index]?.offset ?? 0
    for (const event of result.update.events) {
      // Contracts of the genesis have no creating event.
      const life = lives.get(event.contractId) ?? { created: event.kind === 'created' ? offset : 0 }
      lives.set(event.contractId, life)
      if (event.kind === 'exercised' && event.consuming) life.archived = offset
    }
  }
  return lives
}

const lives = livesOf(ledger.results())
const archived = [...lives.values()].flatMap((life) =>
  life.archived === undefined ? [] : [{ ...life, archived: life.archived }],
)
// Contracts that began before it end after it.
const cut = Math.floor(log.length / 2)

it('the log of these tests has contracts of every lifetime', () => {
  expect(archived.some((life) => life.created === life.archived)).toBe(true)
  expect(archived.some((life) => life.archived <= cut)).toBe(true)
  expect(archived.some((life) => life.created <= cut && life.archived > cut)).toBe(true)
  expect([...lives.values()].some((life) => life.archived === undefined)).toBe(true)
})

it('finds the archival of a contract until it is pruned, over restarts', async ({ redis }) => {
  const connection = redis.connect()
  const follow = async (upTo: number, batch: number) => {
    const clock = createManualClock(ledger.head().recordTime)
    const participant = partyParticipant(svs[0]?.party ?? '')
    const options = { redis: { path: redis.socketPath }, clock, participant }
    const replica = await openReplica({ ...options, ...network })
    const reached = new Promise<void>((resolve) => {
      const check = () => (replica.head().offset >= upTo ? resolve() : undefined)
      replica.onApplied(check)
      check()
    })
    void replica.run(
      createMemoryOrdering(log.slice(0, upTo), () => batch),
      new AbortController().signal,
    )
    await reached
    return replica
  }
  const check = async (replica: Replica, pruned: number) => {
    for (const [id, { created, archived: end = 0 }] of lives) {
      const update = await replica.history.archivalOf(id)
      expect(update?.offset, id).toBe(end > pruned ? end : undefined)
      // The update has the contract even if the update that created it is pruned.
      if (update !== null && created < end)
        expect(
          replica.history.archivedContracts(update).find(({ contractId }) => contractId === id)
            ?.offset,
          id,
        ).toBe(created)
    }
  }
  {
    await using half = await follow(cut, 7)
    expect(half.head().offset).toBe(cut)
  }
  {
    await using whole = await follow(log.length, 40)
    await check(whole, 0)
    // Ids with the same prefix as those of archived contracts.
    for (const id of lives.keys())
      expect(await whole.history.archivalOf(id.slice(0, -40).padEnd(id.length, '0'))).toBe(null)
    // Pruned updates are hidden before they are deleted.
    await connection.hset(KEYS.history, PRUNED_FIELD, cut)
    await check(whole, cut)
    await whole.prune(cut)
    await check(whole, cut)
  }
  await using again = await follow(log.length, 40)
  await check(again, cut)
  await again.prune(log.length)
  await check(again, log.length)
  expect(await connection.zcard(KEYS.updateTags)).toBe(0)
  connection.disconnect()
})

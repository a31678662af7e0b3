/** What a replica stores goes when its time is over: the keys that follow from the log alone, but names and activities. */
import { amountsOf, coinRules, transferCommand } from '@quorumscan/ledger'
import { outcomeOf, Scenario } from '@quorumscan/ledger/testing'
import { createManualClock } from '@quorumscan/testkit'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { openReplica } from '../replica.ts'
import { KEYS, totalsKey } from '../storage/keys.ts'
import { decodeVersions } from '../storage/versions.ts'
import { createMemoryOrdering } from '../testing/memory-ordering.ts'

const SECOND_MICROS = 1_000_000
/** Longer than each time after which something goes: the rest of a day is the longest. */
const LATER_MICROS = 2 * 86_400 * SECOND_MICROS

/** Two addresses of a super-validator, and coins of a party that gives all of them away. */
function tell(): Scenario {
  const story = new Scenario()
  const [alice, bob] = [story.actor('alice', 'one'), story.actor('bob', 'one')]
  story.publish(0, { sequence: 1 })
  story.tap(alice, '10')
  story.ledger.advance(30 * SECOND_MICROS)
  story.publish(0, { sequence: 2 })
  const give = { coinRules: story.the(coinRules), sender: alice.party, inputs: story.coins(alice) }
  const outputs = [{ receiver: bob.party, amount: story.balance(alice).unlocked }]
  const given = story.submit(alice, transferCommand({ ...give, outputs }), {
    actAs: [alice.party, bob.party],
  })
  expect(outcomeOf(given)).toBe('accepted')
  return story
}

async function counts(connection: Redis) {
  const totals = await connection.keys(totalsKey('*'))
  const documents = Object.values(await connection.hgetallBuffer(KEYS.documents))
  return {
    seen: await connection.zcard(KEYS.seen),
    changes: await connection.hlen(KEYS.changes),
    changesUntil: await connection.zcard(KEYS.changesUntil),
    at: await connection.llen(KEYS.at),
    ended: await connection.llen(KEYS.ended),
    totals: (await Promise.all(totals.map((key) => connection.hlen(key)))).reduce(
      (a, b) => a + b,
      0,
    ),
    endedDocuments: documents.flatMap(decodeVersions).filter(({ to }) => to !== null).length,
  }
}

const it = itWithRedis.extend(
  'applied',
  ({ redis, connection }) =>
    /** Applies the log one entry at a time, and counts what is stored. */
    async ({ ledger, network }: Scenario) => {
      const clock = createManualClock(ledger.head().recordTime)
      const replica = await openReplica({ redis: { path: redis.socketPath }, ...network, clock })
      const reached = new Promise<void>((resolve) => {
        replica.onApplied(({ offset }) => {
          if (offset === ledger.head().offset) resolve()
        })
      })
      const ordering = createMemoryOrdering(ledger.entries(), () => 1)
      const running = replica.run(ordering, new AbortController().signal)
      await reached
      await replica[Symbol.asyncDispose]()
      await running
      return await counts(connection)
    },
)

it('records of submissions, versions of documents, heads and totals go', async ({ applied }) => {
  const story = tell()
  const before = await applied(story)
  const lists = () =>
    new Set(
      story.ledger
        .contracts()
        .flatMap(amountsOf)
        .map(({ key }) => key),
    )
  expect(before).toMatchObject({ at: story.ledger.head().offset + 1, totals: lists().size })
  for (const count of ['seen', 'changes', 'changesUntil', 'ended', 'endedDocuments'] as const)
    expect(before[count], count).toBeGreaterThan(0)
  // Versions are cleaned up after their batch, and before the next one.
  story.ledger.advance(LATER_MICROS)
  story.ledger.advance(LATER_MICROS)
  expect(await applied(story)).toEqual({
    seen: 0,
    changes: 0,
    changesUntil: 0,
    at: 1,
    ended: 0,
    totals: lists().size,
    endedDocuments: 0,
  })
})

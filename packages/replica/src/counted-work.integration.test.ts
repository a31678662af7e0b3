/**
 * The commands that Redis runs for each operation of a replica, those of scripts included, and how they grow with the names
 * that it stores. A change of a number is a change of what the operation costs every node: write its reason.
 *
 * @module-tag rest
 */
import { createTestNetwork } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { loadOrStart } from './ingest/genesis.ts'
import { createNameReader } from './reads/name-reader.ts'
import { readNames, readNamesOfParty, readParties, readPrefix } from './reads/reads.ts'
import { createLayout } from './storage/layout.ts'
import { writeSteps } from './storage/store.ts'
import { stepAfter, testParty } from './testing/entry-steps.ts'
import { fillNames } from './testing/fill-names.ts'

const network = createTestNetwork()
const layout = createLayout(network)
const { signal } = new AbortController()
const LIFE_MICROS = 3_600_000_000
const PARTY = testParty('owner')
const FEW = 10
const MANY = 1_000
const nameOf = (index: number) => `name-${String(index).padStart(4, '0')}.unverified.ns`

/** Commands since the server started, by name. */
async function commandsOf(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const info = await redis.info('commandstats')
  const all = [...info.matchAll(/^cmdstat_([^:]+):calls=([0-9]+)/gm)]
  return new Map(all.map(([, name = '', calls]) => [name, Number(calls)]))
}

/** The commands of some work. */
async function countOf(redis: Redis, work: () => Promise<unknown>) {
  const before = await commandsOf(redis)
  await work()
  const after = await commandsOf(redis)
  const used: Record<string, number> = {}
  for (const [name, calls] of after) {
    const count = calls - (before.get(name) ?? 0)
    if (count > 0 && name !== 'info') used[name] = count
  }
  return used
}

/** Each operation, in a replica with so many names. */
async function operationsOf(redis: Redis, count: number) {
  await redis.flushall()
  const expiresAt = network.genesis.recordTime + LIFE_MICROS
  const entries = Array.from({ length: count }, (_, index) => ({
    user: index === 0 ? PARTY : testParty(`user-${index}`),
    name: nameOf(index),
    expiresAt,
  }))
  await fillNames(redis, network, entries)
  const headState = await loadOrStart(redis, { ...network, layout }, signal)
  const { offset, recordTime } = headState.head
  const position = { offset, recordTime }
  const reader = createNameReader(redis)
  const page = { after: null, limit: 5 }
  return {
    'a lookup': () => readNames(reader, [nameOf(1)], position),
    'a batch of five': () => readNames(reader, [2, 3, 4, 5, 6].map(nameOf), position),
    'a lookup by party': () => readParties(redis, [PARTY], position),
    'a page of five': () => readPrefix(redis, { ...page, prefix: 'name' }, position),
    'a page of a party': () => readNamesOfParty(redis, { ...page, party: PARTY }, position),
    'an entry with a name': () => {
      const created = [{ user: PARTY, name: 'new.unverified.ns', expiresAt }]
      const step = stepAfter(headState.head, { recordTime: recordTime + 1, created })
      return writeSteps(redis, headState, { steps: [step], layout, signal })
    },
  }
}

/** One round trip: a range of members, and their versions next to the head. */
const SCRIPT_OF_READS = { evalsha: 1, hget: 1, hmget: 1, zrange: 1 }

/** Constant: the numbers of a replica with ten names are those of one with a thousand. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'a lookup': { hmget: 1 },
  'a batch of five': { hmget: 1 },
  'a lookup by party': SCRIPT_OF_READS,
  'a page of five': SCRIPT_OF_READS,
  'a page of a party': SCRIPT_OF_READS,
  'an entry with a name': {
    evalsha: 1,
    hget: 2,
    hmget: 1,
    hset: 3,
    rpush: 1,
    zadd: 5,
    zrangebyscore: 2,
  },
}

it('the commands of each operation are those of the table, for ten names and for a thousand', async ({
  connection,
}) => {
  for (const count of [FEW, MANY]) {
    const operations = await operationsOf(connection, count)
    const counted: Record<string, unknown> = {}
    for (const [name, work] of Object.entries(operations))
      counted[name] = await countOf(connection, work)
    expect({ count, counted }).toEqual({ count, counted: COMMANDS })
  }
})

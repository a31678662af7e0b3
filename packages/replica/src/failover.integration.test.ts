/** A replica with real sentinels and Redis servers; the primary is killed. */
import { isScanError } from '@quorumscan/errors'
import {
  createManualClock,
  startRedis,
  startSentinels,
  type TestRedis,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { openReplica } from './replica.ts'
import { decodeSpan } from './storage/head.ts'
import { readHeadBytes } from './storage/head-reads.ts'
import { createMemoryOrdering } from './testing/memory-ordering.ts'
import { growRandomLog } from './testing/random-log.ts'
import { hashesOf, settledDump } from './testing/replay.ts'

const scenario = growRandomLog('failover', 60)
const { genesis, genesisHash } = scenario.network
const log = scenario.ledger.entries()
const THIRD = Math.floor(log.length / 3)

async function follow(redis: { readonly path: string } | Sentinels['address'], first: number) {
  const clock = createManualClock(scenario.ledger.head().recordTime)
  const replica = await openReplica({ redis, genesis, genesisHash, clock })
  const ordering = createMemoryOrdering(log.slice(0, first), () => 7)
  const stop = new AbortController()
  const running = replica.run(ordering, stop.signal)
  const offsets: number[] = []
  const hashes = [genesisHash]
  replica.onApplied(({ offset, historyHash }) => {
    offsets.push(offset)
    hashes[offset] = historyHash
  })
  return {
    replica,
    push: ordering.push,
    /** The applied offsets, in order: some twice if the replica has stepped back. */
    offsets,
    hashes,
    reach: (offset: number) =>
      untilTrue(`offset ${offset}`, async () => {
        await clock.advance(1_000)
        return replica.head().offset === offset
      }),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await replica[Symbol.asyncDispose]()
    },
  }
}

type Sentinels = Awaited<ReturnType<typeof startSentinels>>

it('continues on the promoted Redis, and reaches the same state as without a failover', async () => {
  await using redis = await startSentinels(['--appendonly', 'yes'])
  {
    await using follower = await follow(redis.address, THIRD)
    await follower.reach(THIRD)
    const copied = () => storedOffset(redis.replica)
    await untilTrue('the copy', async () => (await copied()) === THIRD)
    await redis.cutReplica()
    follower.push(log.slice(THIRD, 2 * THIRD))
    await follower.reach(2 * THIRD)
    expect(await copied()).toBe(THIRD)

    await redis.failOver()
    follower.push(log.slice(2 * THIRD))
    await follower.reach(log.length)
    expect(follower.offsets).toEqual([...offsetsFrom(0, 2 * THIRD), ...offsetsFrom(THIRD)])
    expect(follower.hashes).toEqual(hashesOf(scenario))
    // Reads have a connection of their own, which may still be on its way to the promoted one.
    const lookup = () =>
      follower.replica.lookups.lookupNames(['dso.ns'], log.length).catch((error: unknown) => {
        if (isScanError(error) && error.code === 'DEPENDENCY_UNAVAILABLE') return undefined
        throw error
      })
    expect(await until('the reads', lookup)).not.toEqual([null])
  }
  await using plain = await startRedis()
  {
    await using undisturbed = await follow({ path: plain.socketPath }, log.length)
    await undisturbed.reach(log.length)
  }
  expect(await settledDump(redis.replica, genesis)).toEqual(await settledDump(plain, genesis))
})

/** Also of a server that takes no writes, which the product does not read. */
async function storedOffset(redis: TestRedis): Promise<number> {
  const connection = redis.connect()
  try {
    const bytes = await readHeadBytes(connection)
    return bytes === null ? 0 : decodeSpan(bytes).offset
  } finally {
    connection.disconnect()
  }
}

function offsetsFrom(after: number, upTo = log.length): readonly number[] {
  return log.map(({ offset }) => offset).filter((offset) => offset > after && offset <= upTo)
}

import type { Scenario } from '@quorumscan/ledger/testing'
import { participantOfKey } from '@quorumscan/model'
import { openReplica, type Replica } from '@quorumscan/replica'
import { createMemoryOrdering, type MemoryOrdering } from '@quorumscan/replica/testing'
import { createManualClock, startRedis, untilTrue } from '@quorumscan/testkit'

export type MemoryHistory = AsyncDisposable & {
  readonly replica: Replica
  readonly ordering: MemoryOrdering
  /** Resolves when the replica has applied so much. */
  reach(offset: number): Promise<void>
}

export async function startHistory(
  scenario: Scenario,
  options: {
    /** Entries of the next batch; all by default. */
    readonly nextCut?: () => number
    /** Entries that the log has at first; all by default. */
    readonly first?: number
  } = {},
): Promise<MemoryHistory> {
  const { nextCut, first = scenario.ledger.head().offset } = options
  const redis = await startRedis()
  const { genesis, genesisHash } = scenario.network
  const replica = await openReplica({
    redis: { path: redis.socketPath },
    genesis,
    genesisHash,
    participant: participantOfKey(scenario.network.synchronizer.publicKey),
    // Behind every entry of the log.
    clock: createManualClock(scenario.ledger.head().recordTime + 86_400_000_000),
  })
  const stop = new AbortController()
  const ordering = createMemoryOrdering(scenario.ledger.entries().slice(0, first), nextCut)
  const running = replica.run(ordering, stop.signal)
  const reach = (offset: number) =>
    untilTrue(`offset ${offset}`, () => replica.head().offset >= offset)
  await reach(first)
  return {
    replica,
    ordering,
    reach,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await replica[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}

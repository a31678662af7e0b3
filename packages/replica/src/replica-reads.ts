/** Reads of a replica that another process writes. */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Head } from '@quorumscan/ledger'
import type { RedisAddress } from '@quorumscan/redis'
import type { Genesis } from '@quorumscan/verifier'
import { openReadConnection, reach } from './connection.ts'
import { createNewestReads } from './reads/newest-reads.ts'
import { decodeHead } from './storage/head.ts'
import { readHeadBytes } from './storage/head-reads.ts'
import { createLayout } from './storage/layout.ts'

/** Reads of the newest state, each of what is stored when it is called. They change nothing. */
export type ReplicaReads = Awaited<ReturnType<typeof openReplicaReads>>

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached or may evict keys. */
export async function openReplicaReads(options: {
  readonly redis: RedisAddress
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  readonly clock: Clock
}) {
  const redis = await openReadConnection(options.redis)
  const store = { redis, layout: createLayout(options) }
  // Only what is due, which is not read here, depends on the record time.
  const reads = createNewestReads({ ...options, store, recordTime: () => 0 })
  const { contractsByKey, totals, isPartyAllocated, dryRun } = reads
  return {
    contractsByKey,
    totals,
    isPartyAllocated,
    dryRun,
    /**
     * The newest applied entry.
     *
     * @throws {ScanError} NOT_READY if Redis holds no replica.
     * @throws {ReplicaStateError} If the replica has another layout.
     */
    async head(): Promise<Head> {
      const bytes = await reach(readHeadBytes(redis))
      if (bytes === null) throw new ScanError('NOT_READY', 'The replica is empty.')
      return decodeHead(bytes)
    },
    [Symbol.dispose]: () => redis.disconnect(),
  }
}

/** Where a replica stands, for whoever looks at it from outside. */

import type { Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { endConnection } from '@quorumscan/redis'
import { openReadConnection, reach } from '../connection.ts'
import { decodeSpan } from '../storage/head.ts'
import { readHeadBytes } from '../storage/moment.ts'

/**
 * What the replica in the Redis there has applied; 0 where there is none.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if its Redis cannot be read.
 * @throws {ReplicaStateError} If other software wrote it.
 */
export async function readStoredOffset(address: RedisAddress): Promise<Offset> {
  const redis = await openReadConnection(address)
  try {
    const bytes = await reach(readHeadBytes(redis))
    return bytes === null ? 0 : decodeSpan(bytes).offset
  } finally {
    endConnection(redis)
  }
}

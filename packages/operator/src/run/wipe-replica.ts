/** Deletes the replica of a stopped operator. Its next `run` rebuilds it from a snapshot or from the log. */

import { type RedisAddress, withRedis } from '@quorumscan/redis'
import { deleteReplica, readStoredOffset } from '@quorumscan/replica'
import { CommandError } from '@quorumscan/runtime'
import { findOwner } from './directory-lock.ts'
import type { OperatorConfig } from './operator-config.ts'
import type { OwnNode } from './operator-services.ts'
import { openOwnRedis } from './own-redis.ts'

/** What one machine applies of a log without a snapshot (test/bench, "ingest"), rounded down. */
const REBUILD_ENTRIES_PER_SECOND = 1000

export type WipedReplica = {
  /** How many keys were deleted; 0: it had no replica. */
  readonly keyCount: number
  /** What it had applied; 0: nothing. */
  readonly offset: number
  /** The longest time of the rebuild, in seconds: from the log alone, without a snapshot. */
  readonly rebuildSecondsMax: number
}

/**
 * Everything else in its Redis stays: users of a validator, the log of a member, jobs, stored groups.
 *
 * @throws {CommandError} If `run` is active, or its Redis does not start: nothing was deleted.
 */
export async function wipeReplica(
  node: OwnNode & { readonly config: OperatorConfig },
): Promise<WipedReplica> {
  const { config, clock } = node
  if (config.runs === 'synchronizer')
    throw new CommandError(
      'nothing was deleted: a synchronizer has no replica. It holds the log, from which all replicas are rebuilt',
    )
  const owner = await findOwner(config.directory, clock)
  if (owner !== null)
    throw new CommandError(
      `nothing was deleted: ${owner} runs the processes of ${config.directory.path}. Stop it first`,
    )
  await using own = await openOwnRedis(node)
  const offset = await readStoredOffset(own.redis)
  const keyCount = await deleteReplicaAt(own.redis)
  return { keyCount, offset, rebuildSecondsMax: Math.ceil(offset / REBUILD_ENTRIES_PER_SECOND) }
}

/** Deletes the replica in a Redis. Returns how many keys were deleted. */
export function deleteReplicaAt(address: RedisAddress): Promise<number> {
  return withRedis(address, 'wipe', deleteReplica)
}

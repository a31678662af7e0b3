/**
 * The newest groups of the log, as they were signed, in a follower's own Redis. A damaged log is refilled from
 * them. They follow from the log, so a follower may lose them.
 */
import type { LogPosition } from '@quorumscan/model'
import {
  endConnection,
  execute,
  openRedis,
  RECENT_GROUPS_SHARE,
  type RedisAddress,
} from '@quorumscan/redis'
import { fieldsOf } from './connection.ts'
import { decodeGroup, LogGroupError, type SignedGroup } from './group.ts'
import { LogUnavailableError } from './log-errors.ts'

/** stream: id `<bytes of all groups before and this one>-0`, fields as in the log */
const KEY = 'log:recent'
/** Bytes of stored groups, at most: some 7 000 registrations of 10 KB each, in 80 MiB of Redis. */
export const RECENT_BYTES_MAX = 64 * 2 ** 20
/** At most 32 MiB in memory, as a group has at most 1 MiB. */
const GROUPS_PER_READ = 32
const EMPTY = new Uint8Array()

/** A group that a follower stored. Its signature is not verified. */
export type StoredGroup = Omit<SignedGroup, 'hash'>

/** Stores groups in the follower's own Redis, up to `RECENT_BYTES_MAX`, and up to their share of its memory. */
export function createGroupStore(options: {
  readonly redis: RedisAddress
  /** The memory that this Redis may use; null: it is not known, or has no limit. */
  readonly memoryBytesMax: () => number | null
  /** Receives the reason why groups could not be stored. */
  readonly onProblem: (error: Error) => void
}) {
  const redis = openRedis(options.redis, 'recentGroups')
  /** Bytes of all groups that were ever stored; null: to be read. */
  let total: number | null = null

  return {
    /** Resolves when they are stored, or could not be: following the log continues without them. */
    async store(groups: readonly SignedGroup[]): Promise<void> {
      try {
        if (redis.status === 'wait') await redis.connect()
        if (total === null) {
          const [newest] = await redis.xrevrange(KEY, '+', '-', 'COUNT', 1)
          total = newest === undefined ? 0 : Number.parseInt(newest[0], 10)
        }
        const share = RECENT_GROUPS_SHARE * (options.memoryBytesMax() ?? Number.POSITIVE_INFINITY)
        const bytesMax = Math.min(RECENT_BYTES_MAX, Math.floor(share))
        const pipeline = redis.pipeline()
        for (const group of groups) {
          total += group.bytes.byteLength
          const oldest = Math.max(0, total - bytesMax)
          pipeline.xadd(KEY, 'MINID', '~', oldest, `${total}-0`, ...fieldsOf(group))
        }
        await execute(pipeline)
      } catch (error) {
        total = null
        options.onProblem(error as Error)
      }
    },
    async [Symbol.asyncDispose]() {
      endConnection(redis)
    },
  }
}

/**
 * The groups in a follower's Redis whose beginning it has applied, by their first offset.
 *
 * @param options.applied - The offset of its replica's head.
 * @throws {LogUnavailableError} If its Redis cannot be read.
 */
export async function readRecentGroups(options: {
  readonly redis: RedisAddress
  readonly applied: number
}): Promise<ReadonlyMap<number, StoredGroup>> {
  const stored = new Map<number, StoredGroup>()
  return await reading(options.redis, async (redis) => {
    for (let after = '-'; ; ) {
      const portion = await redis.xrangeBuffer(KEY, after, '+', 'COUNT', GROUPS_PER_READ)
      for (const [id, [, bytes = EMPTY, , signature = EMPTY]] of portion) {
        const group = openStoredGroup(bytes, signature)
        // The group that was stored later counts: a part of the log that was not applied may have been cut off since.
        if (group !== null && group.firstOffset <= options.applied)
          stored.set(group.firstOffset, group)
        after = `(${id.toString()}`
      }
      if (portion.length < GROUPS_PER_READ) return stored
    }
  })
}

/**
 * The end of the newest group in a follower's Redis; null: it has no group, or that is damaged.
 *
 * @throws {LogUnavailableError} If its Redis cannot be read.
 */
export async function readStoredEnd(address: RedisAddress): Promise<LogPosition | null> {
  return await reading(address, async (redis) => {
    const [newest] = await redis.xrevrangeBuffer(KEY, '+', '-', 'COUNT', 1)
    const [, bytes = EMPTY, , signature = EMPTY] = newest?.[1] ?? []
    const group = openStoredGroup(bytes, signature)
    return group && { offset: group.lastOffset, recordTime: group.entries.at(-1)?.recordTime ?? 0 }
  })
}

async function reading<T>(
  address: RedisAddress,
  read: (redis: ReturnType<typeof openRedis>) => Promise<T>,
): Promise<T> {
  const redis = openRedis(address, 'recentGroupsOnce')
  try {
    await redis.connect()
    return await read(redis)
  } catch (cause) {
    throw new LogUnavailableError('the groups that a follower stored cannot be read', { cause })
  } finally {
    endConnection(redis)
  }
}

/** Null for a damaged group. */
export function openStoredGroup(bytes: Uint8Array, signature: Uint8Array): StoredGroup | null {
  try {
    const copy = new Uint8Array(bytes)
    return { ...decodeGroup(copy), bytes: copy, signature: new Uint8Array(signature) }
  } catch (error) {
    if (error instanceof LogGroupError) return null
    throw error
  }
}

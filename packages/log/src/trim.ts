/** Trimming: deletes the groups at the beginning of the log that a snapshot has made unnecessary. */

import { sha256, toHex } from '@quorumscan/base'
import type { LogPosition, Micros, Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import {
  type LogConnection,
  type LogStart,
  lastOffsetOf,
  openLogConnection,
  type RawGroup,
} from './connection.ts'
import { decodeGroup } from './group.ts'

/** Deleted by one command: some milliseconds of Redis. */
const OFFSETS_PER_TRIM = 10_000

/**
 * Deletes the groups that end before an offset and before a record time, but never the newest one, from which the next
 * one continues. Returns where the log begins then; null: with the genesis.
 *
 * @throws {LogUnavailableError} If its Redis cannot be reached, or goes down.
 * @throws {LogGroupError} If a group that is looked at is damaged: nothing after it is deleted.
 */
export async function trimLog(options: {
  readonly redis: RedisAddress
  readonly before: LogPosition
  readonly signal: AbortSignal
}): Promise<LogStart | null> {
  using connection = await openLogConnection(options.redis, options)
  const newest = await connection.newest()
  const end = newest === null ? 0 : lastOffsetOf(newest)
  const before = { ...options.before, offset: Math.min(options.before.offset, end) }
  for (let start = await connection.start(); ; ) {
    const next = await lastBefore(connection, start?.offset ?? 0, before)
    if (next === null) return start
    await connection.trim(next)
    start = next
  }
}

/** The end of the last group that may be deleted, within `OFFSETS_PER_TRIM` of the beginning; null: none may. */
async function lastBefore(connection: LogConnection, start: Offset, before: LogPosition) {
  let found: LogStart | null = null
  let low = start + 1
  let high = Math.min(before.offset, start + OFFSETS_PER_TRIM)
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const [group] = await connection.range(middle, 1)
    const offset = group === undefined ? before.offset : lastOffsetOf(group)
    if (group !== undefined && offset < before.offset && endTimeOf(group) < before.recordTime) {
      found = { offset, hash: toHex(sha256(group.bytes)) }
      low = offset + 1
    } else high = middle - 1
  }
  return found
}

function endTimeOf({ bytes }: RawGroup): Micros {
  return decodeGroup(bytes).entries.at(-1)?.recordTime ?? Number.POSITIVE_INFINITY
}

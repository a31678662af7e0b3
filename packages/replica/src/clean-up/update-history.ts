/**
 * The beginning of the history of updates: the genesis, the head at which the app first stored a history, or
 * the pruned offset. Pruning deletes completions together with updates.
 */
import type { Offset } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { PRUNED_FIELD, THROUGH_FIELD, tagMembers } from '../ingest/plan-histories.ts'
import { type HeadState, writeFenced } from '../ingest/store.ts'
import { completionsBelow } from '../reads/completions.ts'
import { decodeUpdates, readPrunedOffset } from '../reads/update-reads.ts'
import { createGatheredCommands, toRedis } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import { readUpdates } from '../storage/scripts.ts'

/** Bytes of updates that one pass of pruning deletes: some 2 ms of Redis, and 10 ms of work. */
const PRUNE_BYTES = 256 * 1024

/** Called before the first batch is written. A history with a gap starts again at the head. */
export async function beginHistory(redis: Redis, headState: HeadState, signal: AbortSignal) {
  const { head } = headState
  const through = await redis.hget(KEYS.history, THROUGH_FIELD)
  if (through !== null && Number(through) === head.offset) return 'written'
  const commands = createGatheredCommands()
  commands.addWhole('UNLINK', KEYS.updates)
  commands.addWhole('UNLINK', KEYS.updateTags)
  const fields = [THROUGH_FIELD, head.offset, PRUNED_FIELD, head.offset]
  commands.addWhole('HSET', KEYS.history, ...fields)
  return await writeFenced(redis, headState, { head, commands, signal })
}

/**
 * Deletes updates and completions up to an offset, which must have been applied. The pruned offset is written
 * before anything is deleted, so that no reader finds a gap. May be called again after a failure.
 *
 * @returns The offset up to which the history is pruned now: never less than before.
 */
export async function pruneHistory(redis: Redis, upTo: Offset): Promise<Offset> {
  const before = await readPrunedOffset(redis)
  const pruned = Math.max(before, upTo)
  await reach(redis.hset(KEYS.history, PRUNED_FIELD, pruned))
  const range = { from: 0, to: pruned, order: 'asc', bytes: PRUNE_BYTES } as const
  for (;;) {
    const { entries } = await reach(readUpdates(redis, range))
    const updates = [...decodeUpdates(entries)]
    const last = updates.at(-1)
    if (last === undefined) break
    const transaction = redis.multi().xtrim(KEYS.updates, 'MINID', `${last.offset + 1}-0`)
    transaction.zrem(KEYS.updateTags, ...updates.flatMap(tagMembers).map(toRedis))
    await reach(execute(transaction))
  }
  for (;;) {
    const members = await completionsBelow(redis, pruned + 1)
    if (members.length === 0) break
    await reach(redis.zrem(KEYS.completions, ...members))
  }
  return pruned
}

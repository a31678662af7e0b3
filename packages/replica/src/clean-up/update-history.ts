/**
 * The beginning of the history of updates: the genesis, the head at which the app first stored a history, or
 * the pruned offset. Pruning deletes completions together with updates.
 */
import type { Offset } from '@quorumscan/model'
import { execute } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { completionsBelow } from '../reads/completions.ts'
import type { Store } from '../reads/contracts.ts'
import {
  archivedBy,
  decodeUpdates,
  readIndexedOffset,
  readPrunedOffset,
} from '../reads/update-reads.ts'
import { archivalMembers } from '../storage/archivals.ts'
import { type CommandSink, createGatheredCommands, toRedis } from '../storage/commands.ts'
import type { StoredHead } from '../storage/head.ts'
import { BUCKETS } from '../storage/intern.ts'
import { archivalsKey, KEYS } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import {
  ARCHIVALS_FIELD,
  PRUNED_FIELD,
  putArchivals,
  THROUGH_FIELD,
  tagMembers,
} from '../storage/plan-histories.ts'
import { readUpdates } from '../storage/scripts.ts'
import { type HeadState, type WriteOutcome, writeAtHead } from '../storage/store.ts'

/** Bytes of updates that are pruned or indexed at once: some 2 ms of Redis, and 10 ms of work. */
const PORTION_BYTES = 256 * 1024

/**
 * Called before the first batch is written. A history with a gap starts again at the head. The index of archivals is made
 * again where it does not reach so far, because an older release wrote the history. May be called again after a failure.
 */
export async function beginHistory(
  redis: Redis,
  headState: HeadState,
  { layout, signal }: { readonly layout: Layout; readonly signal: AbortSignal },
): Promise<WriteOutcome> {
  const { head } = headState
  const fields = [THROUGH_FIELD, ARCHIVALS_FIELD] as const
  const [through, archivals] = await redis.hmget(KEYS.history, ...fields)
  if (through != null && Number(through) === head.offset)
    return archivals === through ? 'written' : await indexArchivals(redis, head, { layout, signal })
  const commands = createGatheredCommands()
  commands.addWhole('UNLINK', KEYS.updates)
  commands.addWhole('UNLINK', KEYS.updateTags)
  unlinkArchivals(commands)
  const begun = [...fields, PRUNED_FIELD].flatMap((field) => [field, head.offset])
  commands.addWhole('HSET', KEYS.history, ...begun)
  return await writeAtHead(redis, head, commands)
}

/** Makes the index of all updates. Only the last write says that it is complete. */
async function indexArchivals(
  redis: Redis,
  head: StoredHead,
  { layout, signal }: { readonly layout: Layout; readonly signal: AbortSignal },
): Promise<WriteOutcome> {
  const begun = createGatheredCommands()
  begun.addWhole('HDEL', KEYS.history, ARCHIVALS_FIELD)
  unlinkArchivals(begun)
  if ((await writeAtHead(redis, head, begun)) === 'fenced') return 'fenced'
  const read = (range: Portion) => readUpdates(redis, range)
  for await (const updates of walkUpdates(read, head.offset)) {
    signal.throwIfAborted()
    const commands = createGatheredCommands()
    for (const update of updates) putArchivals(commands, update, archivedBy(update, layout))
    if ((await writeAtHead(redis, head, commands)) === 'fenced') return 'fenced'
  }
  const complete = createGatheredCommands()
  complete.addWhole('HSET', KEYS.history, ARCHIVALS_FIELD, head.offset)
  return await writeAtHead(redis, head, complete)
}

function unlinkArchivals(commands: CommandSink): void {
  for (const bucket of BUCKETS) commands.addWhole('UNLINK', archivalsKey(bucket))
}

type Portion = Parameters<typeof readUpdates>[1]

/** Portions of all updates up to an offset. @param read - Reads one, with the errors that its caller expects. */
async function* walkUpdates(
  read: (range: Portion) => ReturnType<typeof readUpdates>,
  upTo: Offset,
) {
  for (let from = 0; ; ) {
    const { entries } = await read({ from, to: upTo, order: 'asc', bytes: PORTION_BYTES })
    const updates = [...decodeUpdates(entries)]
    const last = updates.at(-1)
    if (last === undefined) return
    yield updates
    from = last.offset + 1
  }
}

/**
 * Deletes updates and completions up to an offset, which must have been applied. The pruned offset is written
 * before anything is deleted, so that no reader finds a gap. May be called again after a failure.
 *
 * @returns The offset up to which the history is pruned now: never less than before.
 * @throws {ScanError} NOT_READY while the index of archivals is made, which would add what is deleted here.
 */
export async function pruneHistory({ redis, layout }: Store, upTo: Offset): Promise<Offset> {
  await readIndexedOffset(redis)
  const pruned = Math.max(await readPrunedOffset(redis), upTo)
  await reach(redis.hset(KEYS.history, PRUNED_FIELD, pruned))
  for await (const updates of walkUpdates((range) => reach(readUpdates(redis, range)), pruned)) {
    const commands = createGatheredCommands()
    for (const update of updates) {
      for (const member of tagMembers(update)) commands.add('ZREM', KEYS.updateTags, member)
      for (const { key, member } of archivalMembers(archivedBy(update, layout), update.offset))
        commands.add('ZREM', key, member)
    }
    const end = (updates.at(-1)?.offset ?? 0) + 1
    const transaction = redis.multi().xtrim(KEYS.updates, 'MINID', `${end}-0`)
    for (const [name, ...args] of commands.take()) transaction.call(name, ...args.map(toRedis))
    await reach(execute(transaction))
  }
  for (;;) {
    const members = await completionsBelow(redis, pruned + 1)
    if (members.length === 0) break
    await reach(redis.zrem(KEYS.completions, ...members))
  }
  return pruned
}

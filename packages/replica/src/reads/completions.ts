/**
 * Completions: the outcomes of the submissions of one participant, in the order of the log. Offset (8 bytes,
 * big-endian) and JSON make one member of a sorted set, so that a page is one range of bytes.
 */
import { concatBytes, fromUtf8, u64, utf8 } from '@quorumscan/base'
import { type CompletionRecord, type Offset, partyParticipant } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import type { InterpretedEntry, Step } from '../ingest/step.ts'
import type { CommandSink } from '../storage/commands.ts'
import { lexBound } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'

const OFFSET_BYTES = 8

/**
 * The completion of an entry; undefined for an entry of another participant. Parties are bound to the participant
 * that submits for them (D-30), so the first submitter decides. Allocations have no submitter and no completion.
 */
export function completionOf(
  entry: Pick<InterpretedEntry, 'offset' | 'recordTime' | 'entryHash' | 'result'>,
  participant: string,
): CompletionRecord | undefined {
  const { offset, recordTime, entryHash, result } = entry
  if (result.kind !== 'accepted' && result.kind !== 'rejected') return undefined
  const [first] = result.completion.actAs
  if (first === undefined || partyParticipant(first) !== participant) return undefined
  const completed = { offset, recordTime, entryHash, completion: result.completion }
  if (result.kind === 'accepted')
    return { ...completed, outcome: { kind: 'accepted', updateId: result.update.updateId } }
  const { code, message, prior } = result
  return { ...completed, outcome: { kind: 'rejected', code, message, ...(prior && { prior }) } }
}

export function planCompletions(commands: CommandSink, steps: readonly Step[]): void {
  for (const { completion } of steps) {
    if (completion === undefined) continue
    const json = utf8(JSON.stringify(completion))
    commands.add('ZADD', KEYS.completions, 0, concatBytes([u64(completion.offset), json]))
  }
}

/** The completions after an offset, up to another one, by ascending offset. */
export async function readCompletions(
  redis: Redis,
  range: { readonly after: Offset; readonly upTo: Offset; readonly limit: number },
): Promise<CompletionRecord[]> {
  const from = lexBound('[', u64(range.after + 1))
  const to = lexBound('(', u64(range.upTo + 1))
  const members = await reach(
    redis.zrangeBuffer(KEYS.completions, from, to, 'BYLEX', 'LIMIT', 0, range.limit),
  )
  // Written by `planCompletions` alone.
  return members.map((member) => JSON.parse(fromUtf8(member.subarray(OFFSET_BYTES))))
}

/** Completions per pass of pruning. */
const PRUNE_PORTION = 1_000

/** Some members of offsets below this one. */
export function completionsBelow(redis: Redis, offset: Offset): Promise<Buffer[]> {
  const max = lexBound('(', u64(offset))
  return reach(redis.zrangeBuffer(KEYS.completions, '-', max, 'BYLEX', 'LIMIT', 0, PRUNE_PORTION))
}

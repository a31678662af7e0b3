/**
 * Completions: the outcomes of the submissions of one participant, in the order of the log. Offset (8 bytes,
 * big-endian) and JSON make one member of a sorted set, so that a page is one range of bytes.
 */
import { concatBytes, fromUtf8, u64, utf8 } from '@quorumscan/base'
import { type CompletionRecord, type Offset, partyParticipant } from '@quorumscan/model'
import type { CommandSink } from './commands.ts'
import { lexBound } from './intern.ts'
import { KEYS } from './keys.ts'
import type { InterpretedEntry, Step } from './step.ts'

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

/** A member that `planCompletions` wrote. */
export function decodeCompletion(member: Buffer): CompletionRecord {
  return JSON.parse(fromUtf8(member.subarray(OFFSET_BYTES)))
}

/** The first member of an offset, as the bound of a range by bytes. */
export function completionBound(bracket: '[' | '(', offset: Offset) {
  return lexBound(bracket, u64(offset))
}

/** Refusals of offsets that a request names (docs/upstream.md §L3.1, rows 4 to 8 and 13). */
import { LedgerError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { LedgerReads } from './dependencies.ts'
import { prunedError } from './update-stream.ts'

/** @throws {LedgerError} PARTICIPANT_PRUNED_DATA_ACCESSED. */
export async function assertNotPruned(
  { replica }: Pick<LedgerReads, 'replica'>,
  range: { readonly after: Offset; readonly upTo: Offset | null },
): Promise<void> {
  const pruned = await replica.history.prunedOffset()
  if (range.after < pruned) throw prunedError({ ...range, pruned })
}

/** An offset as a client sends it: any int64. */
export type Int64 = number | bigint

export function negativeOffset(field: string, offset: Int64): LedgerError {
  return new LedgerError('NEGATIVE_OFFSET', `Offset ${offset} in ${field} is a negative integer`)
}

export function nonPositiveOffset(field: string, offset: Int64): LedgerError {
  const message = `Offset ${offset} in ${field} is not a positive integer`
  return new LedgerError('NON_POSITIVE_OFFSET', message)
}

/** @param name - `Begin`, `End`, or the member that holds the offset. */
export function afterLedgerEnd(name: string, offset: Int64, end: Offset): LedgerError {
  const message = `${name} offset (${offset}) is after ledger end (${end})`
  return new LedgerError('OFFSET_AFTER_LEDGER_END', message)
}

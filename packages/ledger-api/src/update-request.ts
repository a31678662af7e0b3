/** Requests for updates: checked in the stated order (docs/upstream.md §L3.1), then a stream. */
import type { BodyOf, ledgerRoutes } from '@quorumscan/api'
import { LedgerError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Reader } from './callers.ts'
import type { LedgerReads } from './dependencies.ts'
import { createProjection } from './projection.ts'
import {
  assertMayRead,
  combineFormats,
  combineTreeFormat,
  readUpdateFormat,
} from './update-format.ts'
import { boundedUpdates, endlessUpdates, type OpenStream, prunedError } from './update-stream.ts'

export type UpdatesDeps = Pick<LedgerReads, 'feed' | 'clock' | 'synchronizerId' | 'replica'>

/**
 * Opens the stream of updates that a request describes.
 *
 * @throws {LedgerError} The first of §L3.1, rows 2 to 13.
 */
export const openUpdates =
  (deps: UpdatesDeps, isTree = false) =>
  async (
    request: BodyOf<(typeof ledgerRoutes)['getUpdates']>,
    caller: Reader,
  ): Promise<OpenStream> => {
    const format = isTree ? combineTreeFormat(request) : combineFormats(request)
    assertMayRead(caller, format)
    const { beginExclusive, endInclusive = null, descendingOrder } = request
    const end = deps.feed.end().offset
    if (beginExclusive < 0) throw negativeOffset('begin_exclusive', beginExclusive)
    if (descendingOrder && endInclusive === null)
      throw new LedgerError(
        'DESCENDING_ORDER_MISSING_END',
        'descending_order needs end_inclusive: a stream without end has no newest element',
      )
    if (endInclusive !== null && endInclusive <= 0)
      throw nonPositiveOffset('end_inclusive', endInclusive)
    if (beginExclusive > end) throw afterLedgerEnd('Begin', beginExclusive, end)
    if (endInclusive !== null && endInclusive > end) throw afterLedgerEnd('End', endInclusive, end)
    // Both are at most the ledger end.
    const after = Number(beginExclusive)
    const upTo = endInclusive === null ? null : Number(endInclusive)
    const view = readUpdateFormat(format)
    const transactions =
      view.transactions &&
      (isTree ? { ...view.transactions, shape: 'tree' as const } : view.transactions)
    const project = createProjection({ ...view, transactions }, deps.synchronizerId)
    if (upTo !== null && after > upTo)
      throw new LedgerError(
        'OFFSET_OUT_OF_RANGE',
        `the end offset ${upTo} is before the begin offset ${after}`,
      )
    if (after !== upTo) await assertNotPruned(deps, { after, upTo })
    const order = descendingOrder ? 'desc' : 'asc'
    return (signal) =>
      upTo === null
        ? endlessUpdates(deps, after, { project, signal })
        : boundedUpdates(deps, { after, upTo, order }, { project, signal })
  }

/** @throws {LedgerError} PARTICIPANT_PRUNED_DATA_ACCESSED. */
export async function assertNotPruned(
  { replica }: Pick<LedgerReads, 'replica'>,
  range: { readonly after: Offset; readonly upTo: Offset | null },
): Promise<void> {
  const pruned = await replica.history.prunedOffset()
  if (range.after < pruned) throw prunedError({ ...range, pruned })
}

/** An offset as a client sends it: any int64. */
type Int64 = number | bigint

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

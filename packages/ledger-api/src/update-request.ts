/** Requests for updates: checked in the stated order (docs/upstream.md §L3.1), then a stream. */
import type { BodyOf, ledgerRoutes } from '@quorumscan/api'
import { LedgerError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Caller } from './callers.ts'
import { createProjection, type Projection } from './projection.ts'
import {
  assertMayRead,
  checkUpdateFormat,
  combineFormats,
  combineTreeFormat,
  compileUpdateFormat,
} from './update-format.ts'
import {
  boundedUpdates,
  type Elements,
  endlessUpdates,
  prunedError,
  type StreamDeps,
} from './update-stream.ts'

export type UpdatesRequest = BodyOf<(typeof ledgerRoutes)['getUpdates']>

export type UpdatesDeps = StreamDeps & { readonly prunedOffset: () => Promise<Offset> }

/** What a request that passed all checks asks for. */
export type UpdatesQuery = {
  readonly after: Offset
  /** Null: open-ended. */
  readonly upTo: Offset | null
  readonly order: 'asc' | 'desc'
  readonly project: Projection
}

/** @throws {LedgerError} The first of §L3.1, rows 2 to 13. */
export async function checkUpdatesRequest(
  deps: UpdatesDeps,
  request: UpdatesRequest,
  caller: Pick<Caller, 'userId' | 'rights'>,
  isTree = false,
): Promise<UpdatesQuery> {
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
  // Neither is beyond the end any more.
  const after = Number(beginExclusive)
  const upTo = endInclusive === null ? null : Number(endInclusive)
  checkUpdateFormat(format)
  const { transactions, topology } = compileUpdateFormat(format)
  const shown =
    transactions && (isTree ? { ...transactions, shape: 'tree' as const } : transactions)
  const project = createProjection({ transactions: shown, topology }, deps.synchronizerId)
  const order = descendingOrder ? 'desc' : 'asc'
  const query = { after, upTo, order, project } as const
  if (after === upTo) return query
  if (upTo !== null && after > upTo)
    throw new LedgerError(
      'OFFSET_OUT_OF_RANGE',
      `the end offset ${upTo} is before the begin offset ${after}`,
    )
  const pruned = await deps.prunedOffset()
  if (after < pruned) throw prunedError({ after, upTo, pruned })
  return query
}

/** The elements that the query asks for; fails with the signal's reason. */
export function updatesOf(deps: UpdatesDeps, query: UpdatesQuery, signal: AbortSignal): Elements {
  const { after, upTo, order, project } = query
  return upTo === null
    ? endlessUpdates(deps, after, { project, signal })
    : boundedUpdates(deps, { after, upTo, order }, { project, signal })
}

/** As a client gives one: of the whole range of int64. */
type Int64 = number | bigint

export function negativeOffset(field: string, offset: Int64): LedgerError {
  return new LedgerError('NEGATIVE_OFFSET', `Offset ${offset} in ${field} is a negative integer`)
}

export function nonPositiveOffset(field: string, offset: Int64): LedgerError {
  return new LedgerError(
    'NON_POSITIVE_OFFSET',
    `Offset ${offset} in ${field} is not a positive integer`,
  )
}

/** @param name - `Begin`, `End`, or the member that holds the offset. */
export function afterLedgerEnd(name: string, offset: Int64, end: Offset): LedgerError {
  return new LedgerError(
    'OFFSET_AFTER_LEDGER_END',
    `${name} offset (${offset}) is after ledger end (${end})`,
  )
}

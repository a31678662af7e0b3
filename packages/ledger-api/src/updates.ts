/**
 * Requests for updates: checked in the stated order (docs/upstream.md §L3.1), then a stream. Over HTTP: lists, and single
 * updates by id or offset (§L3.2, §L3.5).
 */

import type { BodyOf, ledgerRoutes } from '@quorumscan/api'
import { fromUtf8, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { StoredUpdate } from '@quorumscan/replica'
import type { Caller, CallerRights } from './callers.ts'
import { invalidArgument, missingField, requiredLedgerString } from './commands/grammar.ts'
import type { LedgerApiDeps, LedgerReads } from './dependencies.ts'
import {
  assertMayRead,
  combineFormats,
  combineTreeFormat,
  readUpdateFormat,
  type UpdateFormat,
} from './formats.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import { listHandler } from './list.ts'
import { createProjection, type Projection } from './projection.ts'
import { boundedUpdates, endlessUpdates, type OpenStream, prunedError } from './update-stream.ts'

const OUR_UPDATE_ID = /^1220[0-9a-f]{64}$/

export function updateHandlers(reads: LedgerApiDeps['reads']): LedgerHandlersOf<'updates'> {
  const { history } = reads.replica
  const list = (isTree: boolean) =>
    listHandler(reads, openUpdates(reads, isTree), (body) => body.endInclusive === undefined)
  const demandFormat = (format: UpdateFormat | undefined, caller: Caller): UpdateFormat => {
    if (format === undefined) throw missingField('update_format')
    assertMayRead(caller, format)
    return format
  }
  const projectionOf = (format: UpdateFormat) =>
    createProjection(readUpdateFormat(format), reads.synchronizerId)
  const byId = async (id: string, updateFormat: UpdateFormat | undefined, caller: Caller) => {
    const format = demandFormat(updateFormat, caller)
    requiredLedgerString(id, 'update_id')
    const project = projectionOf(format)
    return elementOf(OUR_UPDATE_ID.test(id) ? await history.updateById(id) : null, project, id)
  }
  return {
    getUpdates: list(false),
    getUpdateFlats: list(false),
    getUpdateTrees: list(true),
    getUpdateById: ({ body, caller }) => byId(body.updateId, body.updateFormat, caller),
    async getTransactionById({ body, caller }) {
      const { updateId, requestingParties } = body
      if (body.transactionFormat !== undefined && requestingParties.length > 0)
        throw invalidArgument('transaction_format and requesting_parties are both given')
      const transactionFormat = body.transactionFormat ?? formatOf(requestingParties)
      const found = await byId(updateId, { includeTransactions: transactionFormat }, caller)
      const { update } = JSON.parse(fromUtf8(found))
      if (update.Transaction === undefined) throw notFound(updateId)
      return utf8(JSON.stringify({ transaction: update.Transaction.value }))
    },
    async getUpdateByOffset({ body, caller }) {
      const { offset } = body
      const format = demandFormat(body.updateFormat, caller)
      if (offset <= 0) throw nonPositiveOffset('offset', offset)
      const project = projectionOf(format)
      const isApplied = offset <= reads.feed.end().offset
      const found = isApplied ? await history.updateAt(Number(offset)) : null
      return elementOf(found, project, String(offset))
    },
  }
}

/** The format of the former member `requestingParties`. @throws {LedgerError} MISSING_FIELD without parties. */
function formatOf(parties: readonly string[]): NonNullable<UpdateFormat['includeTransactions']> {
  if (parties.length === 0) throw missingField('transaction_format')
  const filtersByParty = Object.fromEntries(parties.map((party) => [party, { cumulative: [] }]))
  return {
    transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    eventFormat: { filtersByParty, verbose: true },
  }
}

/** An update that is filtered out, or has no event in the requested shape, is not found either. */
function elementOf(update: StoredUpdate | null, project: Projection, id: string): Uint8Array {
  const element = update === null ? null : project(update)
  if (element === null) throw notFound(id)
  return utf8(element)
}

function notFound(id: string): LedgerError {
  const message = `Update not found, or not visible: ${id.slice(0, 100)}`
  return new LedgerError('UPDATE_NOT_FOUND', message, { resources: [['UPDATE_ID', id]] })
}

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
    caller: CallerRights,
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
    return (signal, reader) => {
      const options = { ...reader, project, signal }
      return upTo === null
        ? endlessUpdates(deps, after, options)
        : boundedUpdates(deps, { after, upTo, order }, options)
    }
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

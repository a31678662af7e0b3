/**
 * Requests for updates: checked in the stated order (docs/upstream.md §L3.1), then a stream. Over HTTP: lists, and single
 * updates by id or offset (§L3.2, §L3.5).
 */

import { type BodyOf, type ledgerRoutes, TREE_PARTIES_MAX } from '@quorumscan/api'
import { assert, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { StoredUpdate } from '@quorumscan/replica'
import type { Caller, CallerRights } from './callers.ts'
import { invalidArgument, missingField, requiredLedgerString } from './commands/grammar.ts'
import type { LedgerApiDeps, LedgerReads } from './dependencies.ts'
import {
  assertMayRead,
  combineFormats,
  combineTreeFormat,
  formatOfParties,
  readUpdateFormat,
  type UpdateFormat,
  type UpdateView,
} from './formats.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import { listHandler } from './list.ts'
import {
  afterLedgerEnd,
  assertNotPruned,
  type Int64,
  negativeOffset,
  nonPositiveOffset,
} from './offsets.ts'
import { createProjection, showUpdate } from './projection.ts'
import { type ShownUpdate, transactionJson, updateJson } from './update-json.ts'
import { boundedUpdates, endlessUpdates, type OpenStream } from './update-stream.ts'
import { updatesPageHandler } from './updates-page.ts'

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
  const viewOf = (format: UpdateFormat, shape?: 'tree'): UpdateView => {
    const view = readUpdateFormat(format)
    const transactions =
      view.transactions && shape ? { ...view.transactions, shape } : view.transactions
    return { ...view, transactions }
  }
  const byId = async (
    id: string,
    updateFormat: UpdateFormat | undefined,
    caller: Caller,
    shape?: 'tree',
  ) => {
    const format = demandFormat(updateFormat, caller)
    requiredLedgerString(id, 'update_id')
    const view = viewOf(format, shape)
    return shownOf(OUR_UPDATE_ID.test(id) ? await history.updateById(id) : null, view, id)
  }
  const byOffset = async (
    offset: Int64,
    updateFormat: UpdateFormat | undefined,
    caller: Caller,
    shape?: 'tree',
  ) => {
    const format = demandFormat(updateFormat, caller)
    if (offset <= 0) throw nonPositiveOffset('offset', offset)
    const view = viewOf(format, shape)
    const isApplied = offset <= reads.feed.end().offset
    const found = isApplied ? await history.updateAt(Number(offset)) : null
    return shownOf(found, view, String(offset))
  }
  const elementOf = (shown: ShownUpdate) => utf8(updateJson(shown, reads.synchronizerId))
  /** Its format names no other kind. */
  const transactionOf = (shown: ShownUpdate): Uint8Array => {
    assert(shown.kind === 'transaction', 'only transactions are asked for')
    return utf8(`{"transaction":${transactionJson(shown, reads.synchronizerId)}}`)
  }
  return {
    getUpdates: list(false),
    getUpdateFlats: list(false),
    getUpdateTrees: list(true),
    getUpdatesPage: updatesPageHandler(reads),
    getUpdateById: async ({ body, caller }) =>
      elementOf(await byId(body.updateId, body.updateFormat, caller)),
    getUpdateByOffset: async ({ body, caller }) =>
      elementOf(await byOffset(body.offset, body.updateFormat, caller)),
    async getTransactionById({ body, caller }) {
      const format = transactionFormatOf(body)
      return transactionOf(await byId(body.updateId, format, caller))
    },
    async getTransactionByOffset({ body, caller }) {
      const format = transactionFormatOf(body)
      return transactionOf(await byOffset(body.offset, format, caller))
    },
    async getTransactionTreeById({ params: { updateId }, query, caller }) {
      const format = treeFormatOf(query.parties)
      return transactionOf(await byId(updateId, format, caller, 'tree'))
    },
    async getTransactionTreeByOffset({ params: { offset }, query, caller }) {
      const format = treeFormatOf(query.parties)
      return transactionOf(await byOffset(offset, format, caller, 'tree'))
    },
  }
}

/** @throws {LedgerError} MISSING_FIELD without format and parties, INVALID_ARGUMENT with both. */
function transactionFormatOf(request: {
  readonly transactionFormat?: UpdateFormat['includeTransactions']
  readonly requestingParties: readonly string[]
}): UpdateFormat {
  const { transactionFormat, requestingParties: parties } = request
  if (transactionFormat === undefined) {
    if (parties.length === 0) throw missingField('transaction_format')
    return formatOfParties(parties, 'TRANSACTION_SHAPE_ACS_DELTA')
  }
  if (parties.length > 0)
    throw invalidArgument('transaction_format and requesting_parties are both given')
  return { includeTransactions: transactionFormat }
}

/** @throws {LedgerError} MISSING_FIELD without parties, INVALID_ARGUMENT for too many. */
function treeFormatOf(parties: readonly string[] = []): UpdateFormat {
  if (parties.length === 0) throw missingField('requesting_parties')
  if (parties.length > TREE_PARTIES_MAX)
    throw invalidArgument(`a tree is shown to at most ${TREE_PARTIES_MAX} parties`)
  return formatOfParties(parties, 'TRANSACTION_SHAPE_LEDGER_EFFECTS')
}

/** An update that is filtered out, or has no event in the requested shape, is not found either. */
function shownOf(update: StoredUpdate | null, view: UpdateView, id: string): ShownUpdate {
  const shown = update && showUpdate(update, view)
  if (shown === null) throw notFound(id)
  return shown
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

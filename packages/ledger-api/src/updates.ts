/** Updates over HTTP: lists, and single ones by id or offset (docs/upstream.md §L3.2, §L3.5). */
import { fromUtf8, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { StoredUpdate } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import { fieldError, isLedgerString } from './commands/grammar.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { UpdateFormat } from './event-filter.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import type { LedgerReads } from './ledger-reads.ts'
import { listHandler } from './list.ts'
import { createProjection, type Projection } from './projection.ts'
import { openUpdates } from './streams.ts'
import { assertMayRead, checkUpdateFormat, compileUpdateFormat, missing } from './update-format.ts'
import { nonPositiveOffset } from './update-request.ts'

export function updateHandlers({
  reads,
}: Pick<LedgerApiDeps, 'reads'>): LedgerHandlersOf<'updates'> {
  const { history } = reads
  const list = (isTree: boolean) =>
    listHandler(reads, openUpdates(reads, isTree), (body) => body.endInclusive === undefined)
  const byId = async (
    updateId: string,
    updateFormat: UpdateFormat | undefined,
    caller: Caller,
  ): Promise<Uint8Array> => {
    const format = demandFormat(updateFormat, caller)
    if (updateId === '') throw missing('update_id')
    if (!isLedgerString(updateId))
      throw fieldError('INVALID_FIELD', 'update_id', 'update_id: is no LedgerString')
    const project = projectionOf(reads, format)
    const found = OUR_UPDATE_ID.test(updateId) ? await history.updateById(updateId) : null
    return elementOf(found, project, updateId)
  }
  return {
    getUpdates: list(false),
    getUpdateFlats: list(false),
    getUpdateTrees: list(true),
    getUpdateById: ({ body, caller }) => byId(body.updateId, body.updateFormat, caller),
    async getTransactionById({ body, caller }) {
      const { transactionFormat, updateId } = body
      if (transactionFormat === undefined) throw missing('transaction_format')
      const found = await byId(updateId, { includeTransactions: transactionFormat }, caller)
      const { update } = JSON.parse(fromUtf8(found))
      if (update.Transaction === undefined) throw notFound(updateId)
      return utf8(JSON.stringify({ transaction: update.Transaction.value }))
    },
    async getUpdateByOffset({ body, caller }) {
      const { offset } = body
      const format = demandFormat(body.updateFormat, caller)
      if (offset <= 0) throw nonPositiveOffset('offset', offset)
      const project = projectionOf(reads, format)
      const isApplied = offset <= reads.feed.end().offset
      const found = isApplied ? await history.updateAt(Number(offset)) : null
      return elementOf(found, project, String(offset))
    },
  }
}

function demandFormat(format: UpdateFormat | undefined, caller: Caller): UpdateFormat {
  if (format === undefined) throw missing('update_format')
  assertMayRead(caller, format)
  return format
}

function projectionOf({ synchronizerId }: LedgerReads, format: UpdateFormat): Projection {
  checkUpdateFormat(format)
  return createProjection(compileUpdateFormat(format), synchronizerId)
}

const OUR_UPDATE_ID = /^1220[0-9a-f]{64}$/

/** What is filtered out, or has no event in the shape asked, is not found either. */
function elementOf(update: StoredUpdate | null, project: Projection, id: string): Uint8Array {
  const element = update === null ? null : project(update)
  if (element === null) throw notFound(id)
  return utf8(element)
}

function notFound(id: string): LedgerError {
  const message = `Update not found, or not visible: ${id.slice(0, 100)}`
  return new LedgerError('UPDATE_NOT_FOUND', message, { resources: [['UPDATE_ID', id]] })
}

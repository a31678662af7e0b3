/** Updates over HTTP: lists, and single ones by id or offset (docs/upstream.md §L3.2, §L3.5). */
import { fromUtf8, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { StoredUpdate } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import { missingField, requiredLedgerString } from './commands/grammar.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { UpdateFormat } from './event-filter.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import { listHandler } from './list.ts'
import { createProjection, type Projection } from './projection.ts'
import { assertMayRead, readUpdateFormat } from './update-format.ts'
import { nonPositiveOffset, openUpdates } from './update-request.ts'

const OUR_UPDATE_ID = /^1220[0-9a-f]{64}$/

export function updateHandlers({
  reads,
}: Pick<LedgerApiDeps, 'reads'>): LedgerHandlersOf<'updates'> {
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
      const { transactionFormat, updateId } = body
      if (transactionFormat === undefined) throw missingField('transaction_format')
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

/** Updates over HTTP: lists, and single ones by id or offset (docs/upstream.md §L3.2, §L3.5). */
import { fromUtf8, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { StoredUpdate } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import { isLedgerString } from './commands/grammar.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { UpdateFormat } from './event-filter.ts'
import type { LedgerHandlersOf } from './handler-types.ts'
import type { LedgerReads } from './ledger-reads.ts'
import { LIST_IDLE_MS, listOf } from './list.ts'
import { createProjection, type Projection } from './projection.ts'
import { assertMayRead, checkUpdateFormat, compileUpdateFormat, missing } from './update-format.ts'
import {
  checkTreesRequest,
  checkUpdatesRequest,
  nonPositiveOffset,
  updatesOf,
} from './update-request.ts'

type ListRequest = Parameters<LedgerHandlersOf<'getUpdates'>['getUpdates']>[0]

export function updateHandlers({
  reads,
}: Pick<LedgerApiDeps, 'reads'>): LedgerHandlersOf<
  | 'getUpdates'
  | 'getUpdateFlats'
  | 'getUpdateTrees'
  | 'getUpdateById'
  | 'getUpdateByOffset'
  | 'getTransactionById'
> {
  const { updates, guard, history } = reads
  const listWith =
    (check: typeof checkUpdatesRequest) =>
    async ({ body, query, caller, signal }: ListRequest): Promise<Uint8Array> => {
      const wanted = await check(updates, body, caller)
      return await listOf((ended) => updatesOf(updates, wanted, guard.watch(caller, ended)), {
        limit: query.limit,
        idleMs: query.stream_idle_timeout_ms ?? (wanted.upTo === null ? LIST_IDLE_MS : null),
        clock: updates.clock,
        signal,
      })
    }
  const list = listWith(checkUpdatesRequest)
  const byId = async (
    updateId: string,
    updateFormat: UpdateFormat | undefined,
    caller: Caller,
  ): Promise<Uint8Array> => {
    const format = demandFormat(updateFormat, caller)
    if (updateId === '') throw missing('update_id')
    if (!isLedgerString(updateId))
      throw new LedgerError('INVALID_FIELD', 'update_id: is no LedgerString', {
        context: { field_name: 'update_id' },
      })
    const project = projectionOf(reads, format)
    const found = isOurUpdateId(updateId) ? await history.updateById(updateId) : null
    return elementOf(found, project, updateId)
  }
  return {
    getUpdates: list,
    getUpdateFlats: list,
    getUpdateTrees: listWith(checkTreesRequest),
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
      const isApplied = offset <= updates.feed.end().offset
      return elementOf(
        isApplied ? await history.updateAt(Number(offset)) : null,
        project,
        String(offset),
      )
    },
  }
}

function demandFormat(format: UpdateFormat | undefined, caller: Caller): UpdateFormat {
  if (format === undefined) throw missing('update_format')
  assertMayRead(caller, format)
  return format
}

function projectionOf({ updates }: LedgerReads, format: UpdateFormat): Projection {
  checkUpdateFormat(format)
  return createProjection(compileUpdateFormat(format), updates.synchronizerId)
}

function isOurUpdateId(text: string): boolean {
  return /^1220[0-9a-f]{64}$/.test(text)
}

/** What is filtered out, or has no event in the shape asked, is not found either. */
function elementOf(update: StoredUpdate | null, project: Projection, id: string): Uint8Array {
  const element = update === null ? null : project(update)
  if (element === null) throw notFound(id)
  return utf8(element)
}

function notFound(id: string): LedgerError {
  return new LedgerError(
    'UPDATE_NOT_FOUND',
    `Update not found, or not visible: ${id.slice(0, 100)}`,
    { resources: [['UPDATE_ID', id]] },
  )
}

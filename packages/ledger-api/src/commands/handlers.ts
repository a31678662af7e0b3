/** Commands and `/v2/version` on the ledger interface (docs/upstream.md §L4, §L5.2). */
import { type JsCommands, PARTIES_PAGE_MAX, USERS_PAGE_MAX } from '@quorumscan/api'
import { assert, utf8 } from '@quorumscan/base'
import type { CompletionRecord } from '@quorumscan/model'
import { RIGHTS_PER_USER_MAX } from '@quorumscan/users'
import type { Caller } from '../callers.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import type { UpdateFormat } from '../event-filter.ts'
import type { LedgerHandlersOf } from '../http/handler.ts'
import { listHandler } from '../list.ts'
import { transactionJson } from '../projection.ts'
import { openCompletions } from '../streams.ts'
import {
  assertMayRead,
  checkUpdateFormat,
  compileUpdateFormat,
  type TransactionView,
} from '../update-format.ts'
import { completionError } from './refusals.ts'
import { checkRequest } from './request.ts'
import { submit } from './submission.ts'

/** D-31. */
const LEDGER_API_VERSION = '3.5.10'
/** A checkpoint every 15 s, and one a minute on idle (docs/upstream.md §L3.3). */
const CHECKPOINT_DELAY_SECONDS = 75

type Request = {
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly traceparent: string | null
}

export function commandHandlers(context: LedgerApiDeps): LedgerHandlersOf<'commands' | 'version'> {
  return {
    async submitAsync(request) {
      await accept(context, request, request.body)
      return {}
    },
    async submitAndWait(request) {
      const { updateId, offset } = await submitAndWait(context, request, request.body)
      return { updateId, completionOffset: offset }
    },
    async submitAndWaitForTransaction(request) {
      const { body, caller } = request
      const view = readFormat(body.transactionFormat, { caller, commands: body.commands })
      const { offset } = await submitAndWait(context, request, body.commands)
      const update = await context.reads.history.updateAt(offset)
      assert(update !== null, 'what was applied is in the history')
      const shown = { ...view, isShownEmpty: true }
      const json = transactionJson(update, shown, context.genesis.synchronizerId)
      return utf8(`{"transaction":${json}}`)
    },
    getCompletions: listHandler(context.reads, openCompletions(context), () => true),
    async getLedgerApiVersion() {
      return {
        version: LEDGER_API_VERSION,
        features: {
          experimental: {
            staticTime: { supported: false },
            commandInspectionService: { supported: false },
          },
          userManagement: {
            supported: true,
            maxRightsPerUser: RIGHTS_PER_USER_MAX,
            maxUsersPageSize: USERS_PAGE_MAX,
          },
          partyManagement: { maxPartiesPageSize: PARTIES_PAGE_MAX },
          offsetCheckpoint: {
            maxOffsetCheckpointEmissionDelay: {
              seconds: CHECKPOINT_DELAY_SECONDS,
              nanos: 0,
              unknownFields: { fields: {} },
            },
          },
          packageFeature: { maxVettedPackagesPageSize: 100 },
        },
      }
    },
  }
}

/** @throws {LedgerError} If the format is wrong, or asks for what the caller may not see. */
function readFormat(
  format: UpdateFormat['includeTransactions'],
  { caller, commands }: { readonly caller: Caller; readonly commands: JsCommands },
): TransactionView {
  const parties = [...commands.actAs, ...commands.readAs]
  const everything = { cumulative: [] }
  const wanted = format ?? {
    transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' as const,
    eventFormat: {
      filtersByParty: Object.fromEntries(parties.map((party) => [party, everything])),
      verbose: true,
    },
  }
  // Without one, the rights are those of the submission, which are checked with it.
  if (format !== undefined) assertMayRead(caller, { includeTransactions: wanted })
  // Without submitters there is nothing to show, and the submission will be refused.
  if (format !== undefined || parties.length > 0) checkUpdateFormat({ includeTransactions: wanted })
  const { transactions } = compileUpdateFormat({ includeTransactions: wanted })
  assert(transactions !== null, 'transactions are asked for')
  return transactions
}

async function accept(context: LedgerApiDeps, { caller, traceparent }: Request, body: JsCommands) {
  context.assertLive()
  const now = context.now()
  const { deduplicationMicrosMax } = context.genesis
  const request = checkRequest(body, { caller, now, deduplicationMicrosMax, traceparent })
  return await submit(context.submission, request, { now })
}

/** @throws {LedgerError} What the completion says, if it says no. */
async function submitAndWait(context: LedgerApiDeps, request: Request, body: JsCommands) {
  const accepted = await accept(context, request, body)
  const record = await settled(accepted.outcome, request.signal)
  const { outcome, offset } = record
  if (outcome.kind === 'rejected') throw completionError(record, outcome, context.genesis)
  return { updateId: outcome.updateId, offset }
}

/** Whoever waits no longer does not end the submission. */
async function settled(
  outcome: Promise<CompletionRecord>,
  signal: AbortSignal,
): Promise<CompletionRecord> {
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([outcome, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

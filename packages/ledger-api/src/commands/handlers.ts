/** Commands and `/v2/version` on the ledger interface (docs/upstream.md §L4, §L5.2). */
import { type JsCommands, PARTIES_PAGE_MAX, USERS_PAGE_MAX, VETTED_PAGE_MAX } from '@quorumscan/api'
import { assert, utf8 } from '@quorumscan/base'
import type { CompletionRecord } from '@quorumscan/model'
import { RIGHTS_PER_USER_MAX } from '@quorumscan/users'
import type { Caller } from '../callers.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import {
  assertMayRead,
  type EventFilter,
  formatOfParties,
  readUpdateFormat,
  type TransactionShape,
  type TransactionView,
  type UpdateFormat,
} from '../formats.ts'
import type { LedgerHandlersOf } from '../http/handler.ts'
import { listHandler } from '../list.ts'
import { showTransaction } from '../projection.ts'
import { transactionJson } from '../update-json.ts'
import { completionError } from './completion-status.ts'
import { type CompletionsDeps, openCommandCompletions, openCompletions } from './completions.ts'
import { checkRequest } from './request.ts'
import { type SubmissionDeps, submit } from './submission.ts'

/** D-31. */
const LEDGER_API_VERSION = '3.5.14'
/** A stream sends a progress message every 15 s, and every minute while it is idle (docs/upstream.md §L3.3). */
const PROGRESS_DELAY_SECONDS = 75
const NOTHING: EventFilter = { anyParty: null, byParty: new Map() }

const USER_LIMITS = { maxRightsPerUser: RIGHTS_PER_USER_MAX, maxUsersPageSize: USERS_PAGE_MAX }

type CommandsDeps = SubmissionDeps &
  CompletionsDeps &
  Pick<LedgerApiDeps, 'reads' | 'ledger' | 'dispatcher' | 'genesis' | 'now' | 'assertLive'>

type Request = {
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly traceparent: string | null
}

export function commandHandlers(deps: CommandsDeps): LedgerHandlersOf<'commands' | 'version'> {
  return {
    async submitAsync(request) {
      await accept(deps, request, request.body)
      return {}
    },
    async submitAndWait(request) {
      const { updateId, offset } = await submitAndWait(deps, request, request.body)
      return { updateId, completionOffset: offset }
    },
    async submitAndWaitForTransaction(request) {
      const { body, caller } = request
      const view = readFormat(body.transactionFormat, { caller, commands: body.commands })
      return utf8(`{"transaction":${await submitAndShow(deps, request, body.commands, view)}}`)
    },
    async submitAndWaitForTransactionTree(request) {
      const { body } = request
      const view = {
        ...viewOfSubmitters(body, 'TRANSACTION_SHAPE_LEDGER_EFFECTS'),
        shape: 'tree',
      } as const
      return utf8(`{"transactionTree":${await submitAndShow(deps, request, body, view)}}`)
    },
    getCompletions: listHandler(deps.reads, openCompletions(deps), () => true),
    getCommandCompletions: listHandler(deps.reads, openCommandCompletions(deps), () => true),
    async getLedgerApiVersion() {
      return {
        version: LEDGER_API_VERSION,
        features: {
          experimental: {
            staticTime: { supported: false },
            commandInspectionService: { supported: false },
          },
          userManagement: { supported: true, ...USER_LIMITS },
          partyManagement: { maxPartiesPageSize: PARTIES_PAGE_MAX },
          offsetCheckpoint: {
            maxOffsetCheckpointEmissionDelay: {
              seconds: PROGRESS_DELAY_SECONDS,
              nanos: 0,
              unknownFields: { fields: {} },
            },
          },
          packageFeature: { maxVettedPackagesPageSize: VETTED_PAGE_MAX },
        },
      }
    },
  }
}

/** @throws {LedgerError} If the format is invalid, or asks for what the caller may not see. */
function readFormat(
  format: UpdateFormat['includeTransactions'],
  { caller, commands }: { readonly caller: Caller; readonly commands: JsCommands },
): TransactionView {
  if (format === undefined) return viewOfSubmitters(commands, 'TRANSACTION_SHAPE_ACS_DELTA')
  const wanted: UpdateFormat = { includeTransactions: format }
  assertMayRead(caller, wanted)
  return transactionsOf(wanted)
}

/** What the submitters see. The rights to it are those of the submission, which are checked with it. */
function viewOfSubmitters({ actAs, readAs }: JsCommands, shape: TransactionShape): TransactionView {
  const parties = [...actAs, ...readAs]
  // Without submitters there is nothing to show, and the submission will be refused.
  if (parties.length === 0) return { shape: 'acs-delta', filter: NOTHING }
  return transactionsOf(formatOfParties(parties, shape))
}

function transactionsOf(format: UpdateFormat): TransactionView {
  const { transactions } = readUpdateFormat(format)
  assert(transactions !== null, 'transactions are asked for')
  return transactions
}

/** JSON of the transaction, also if the view shows none of its events. @throws {LedgerError} As `submitAndWait`. */
async function submitAndShow(
  deps: CommandsDeps,
  request: Request,
  commands: JsCommands,
  view: TransactionView,
): Promise<string> {
  const { offset } = await submitAndWait(deps, request, commands)
  const update = await deps.reads.replica.history.updateAt(offset)
  assert(update !== null, 'what was applied is in the history')
  const shown = showTransaction(update, view, { isShownEmpty: true })
  assert(shown !== null, 'an empty transaction is shown')
  return transactionJson(shown, deps.genesis.synchronizerId)
}

async function accept(deps: CommandsDeps, { caller, traceparent }: Request, body: JsCommands) {
  deps.assertLive()
  const now = deps.now()
  const { deduplicationMicrosMax } = deps.genesis
  const request = checkRequest(body, { caller, now, deduplicationMicrosMax, traceparent })
  return await submit(deps, request, { now })
}

/** @throws {LedgerError} The refusal of the completion. */
async function submitAndWait(deps: CommandsDeps, request: Request, body: JsCommands) {
  const accepted = await accept(deps, request, body)
  const record = await settled(accepted.outcome, request.signal)
  const { outcome, offset } = record
  if (outcome.kind === 'rejected') throw completionError(record, outcome, deps.genesis)
  return { updateId: outcome.updateId, offset }
}

/** Rejects with the signal's reason. The submission continues when its caller stops waiting. */
function settled(outcome: Promise<CompletionRecord>, signal: AbortSignal) {
  return new Promise<CompletionRecord>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    outcome.then(resolve, reject)
  })
}

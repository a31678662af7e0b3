/** The ledger interface (D-27, D-28): reads, commands, users, and its version. */
import { COST_LIST, COST_SUBMISSION } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import * as commands from '../schemas/ledger/commands.ts'
import { ListQuery } from '../schemas/ledger/updates.ts'
import { ledgerPackageRoutes } from './ledger-packages.ts'
import { ledgerReadRoutes } from './ledger-reads.ts'
import { ledgerUserRoutes } from './ledger-users.ts'

/** How long a caller may wait for the outcome: as long as a submission may take to enter the log. */
const WAIT_MS_MAX = 330_000

const command = {
  tag: 'commands',
  auth: 'user',
  body: commands.JsCommands,
  errorStatuses: [404, 409],
  waits: true,
  cost: COST_SUBMISSION,
} as const

const open = { tag: 'version', auth: 'none' } as const
const waiting = { ...command, handlerMsMax: WAIT_MS_MAX } as const

const completions = {
  ...command,
  query: ListQuery,
  cost: COST_LIST,
  isList: true,
  errorStatuses: [409],
} as const

export const ledgerRoutes = defineRoutes({
  ...ledgerReadRoutes,
  submitAsync: route('POST /v2/commands/async/submit', command, {
    summary: 'Submits commands; a completion reports their outcome.',
    description:
      'Refusals that are known at once are answered at once. An accepted submission is not lost, and takes effect once.',
    response: commands.SubmitAnswer,
  }),
  submitAndWait: route('POST /v2/commands/submit-and-wait', waiting, {
    summary: 'Submits commands and waits for their outcome.',
    response: commands.SubmitAndWaitAnswer,
  }),
  submitAndWaitForTransaction: route('POST /v2/commands/submit-and-wait-for-transaction', waiting, {
    summary: 'Submits commands and waits for the transaction, as the caller may see it.',
    description: 'Without a format: creates and archivals that the submitters see.',
    body: commands.SubmitForTransactionRequest,
    response: commands.SubmitForTransactionAnswer,
  }),
  submitAndWaitForTransactionTree: route(
    'POST /v2/commands/submit-and-wait-for-transaction-tree',
    waiting,
    {
      summary: 'Submits commands and waits for the transaction as a tree; for older clients.',
      description: 'As the submitters see it.',
      response: commands.SubmitForTransactionTreeAnswer,
    },
  ),
  getCompletions: route('POST /v2/commands/completions', completions, {
    summary: 'The outcomes of the submissions of a user, after an offset.',
    description: 'Ends after `stream_idle_timeout_ms` without a completion, by default 500.',
    body: commands.CompletionsRequest,
    response: commands.CompletionsAnswer,
  }),
  getCommandCompletions: route('POST /v2/commands/command-completions', completions, {
    summary: 'The outcomes of the submissions of parties, of any user, after an offset.',
    description: 'Ends after `stream_idle_timeout_ms` without a completion, by default 500.',
    body: commands.CommandCompletionsRequest,
    response: commands.CompletionsAnswer,
  }),
  getLedgerApiVersion: route('GET /v2/version', open, {
    summary: 'The version of the interface, and its limits.',
    response: commands.VersionAnswer,
  }),
  ...ledgerUserRoutes,
  ...ledgerPackageRoutes,
})

/**
 * Operations of upstream that have no meaning here: packages are part of the software (D-31), with one synchronizer nothing
 * is reassigned (D-27), and the issuer of tokens is configuration (D-32). With a valid token they are answered 501
 * UNSUPPORTED_OPERATION, and their body is not read.
 */
export const refusedLedgerOperations = [
  'POST /v2/commands/submit-and-wait-for-reassignment',
  'POST /v2/commands/async/submit-reassignment',
  'POST /v2/dars',
  'POST /v2/dars/validate',
  'POST /v2/packages',
  'POST /v2/package-vetting',
  'POST /v2/package-vetting/update',
  'POST /v2/idps',
  'PATCH /v2/idps/{idpId}',
  'DELETE /v2/idps/{idpId}',
] as const

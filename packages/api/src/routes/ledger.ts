/** The ledger interface (D-27, D-28): reads, commands, users, and which interface this is. */
import { defineRoutes, route } from '../route-def.ts'
import * as commands from '../schemas/ledger/commands.ts'
import { ListQuery } from '../schemas/ledger/updates.ts'
import { ledgerReadRoutes } from './ledger-reads.ts'
import { ledgerUserRoutes } from './ledger-users.ts'

/** ms that a caller may wait for the outcome: as long as a submission may take to get into the log. */
const WAIT_MS_MAX = 330_000

const command = {
  tag: 'commands',
  auth: 'user',
  body: commands.JsCommands,
  errorStatuses: [404, 409],
} as const

const waiting = { ...command, handlerMsMax: WAIT_MS_MAX } as const

export const ledgerRoutes = defineRoutes({
  ...ledgerReadRoutes,
  submitAsync: route('POST /v2/commands/async/submit', command, {
    summary: 'Submits commands; what becomes of them is told by a completion.',
    description:
      'What can be known at once is refused at once. What was accepted is not lost, and takes effect once.',
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
  getCompletions: route('POST /v2/commands/completions', command, {
    summary: 'What became of the submissions of a user, after an offset.',
    description: 'Answered when nothing came for `stream_idle_timeout_ms`, by default 500.',
    query: ListQuery,
    body: commands.CompletionsRequest,
    response: commands.CompletionsAnswer,
    errorStatuses: [409],
  }),
  getLedgerApiVersion: route(
    'GET /v2/version',
    { tag: 'version', auth: 'none' },
    {
      summary: 'The version of the interface, and its limits.',
      response: commands.VersionAnswer,
    },
  ),
  ...ledgerUserRoutes,
})

/** Commands, and which interface this is. */
import { defineRoutes } from '../define-routes.ts'
import * as commands from '../schemas/ledger/commands.ts'
import { ListQuery } from '../schemas/ledger/updates.ts'

/** ms that a caller may wait for the outcome: as long as a submission may take to get into the log. */
const WAIT_MS_MAX = 330_000

const command = {
  method: 'POST',
  tag: 'commands',
  auth: 'user',
  body: commands.JsCommands,
  errorStatuses: [404, 409],
} as const

const waiting = { ...command, handlerMsMax: WAIT_MS_MAX } as const

export const ledgerCommandRoutes = defineRoutes({
  submitAsync: {
    ...command,
    path: '/v2/commands/async/submit',
    summary: 'Submits commands; what becomes of them is told by a completion.',
    description:
      'What can be known at once is refused at once. What was accepted is not lost, and takes effect once.',
    response: commands.SubmitAnswer,
  },
  submitAndWait: {
    ...waiting,
    path: '/v2/commands/submit-and-wait',
    summary: 'Submits commands and waits for their outcome.',
    response: commands.SubmitAndWaitAnswer,
  },
  submitAndWaitForTransaction: {
    ...waiting,
    path: '/v2/commands/submit-and-wait-for-transaction',
    summary: 'Submits commands and waits for the transaction, as the caller may see it.',
    description: 'Without a format: creates and archivals that the submitters see.',
    body: commands.SubmitForTransactionRequest,
    response: commands.SubmitForTransactionAnswer,
  },
  getCompletions: {
    method: 'POST',
    path: '/v2/commands/completions',
    summary: 'What became of the submissions of a user, after an offset.',
    description: 'Answered when nothing came for `stream_idle_timeout_ms`, by default 500.',
    tag: 'commands',
    query: ListQuery,
    body: commands.CompletionsRequest,
    response: commands.CompletionsAnswer,
    auth: 'user',
    errorStatuses: [409],
  },
  getLedgerApiVersion: {
    method: 'GET',
    path: '/v2/version',
    summary: 'The version of the interface, and its limits.',
    tag: 'version',
    response: commands.VersionAnswer,
    auth: 'none',
  },
})

/** The handlers of the ledger interface, one for each route of its table, and its WebSockets. */

import { type Openers, socketRoutes } from '@quorumscan/api'
import type { Caller } from './callers.ts'
import { openCommandCompletions, openCompletions } from './commands/completions.ts'
import { commandHandlers } from './commands/handlers.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerHandlers } from './http/handler.ts'
import type { LedgerSocket } from './http/ledger-sockets.ts'
import { packageHandlers } from './packages.ts'
import { openActiveContracts, stateHandlers } from './state.ts'
import type { OpenStream } from './update-stream.ts'
import { openUpdates, updateHandlers } from './updates.ts'
import { ledgerUserHandlers, ofDefaultProvider } from './users/handlers.ts'
import { issuerHandlers } from './users/issuers.ts'
import { partyHandlers } from './users/parties.ts'

export function ledgerHandlers(context: LedgerApiDeps): LedgerHandlers {
  return {
    ...stateHandlers(context),
    ...commandHandlers(context),
    ...ofDefaultProvider({ ...ledgerUserHandlers(context), ...partyHandlers(context) }),
    ...updateHandlers(context.reads),
    ...packageHandlers(context),
    ...issuerHandlers(context),
  }
}

export function ledgerSockets(context: LedgerApiDeps): readonly LedgerSocket[] {
  const { reads } = context
  const openers: Openers<'/v2/', (request: never, caller: Caller) => Promise<OpenStream>> = {
    streamUpdates: openUpdates(reads),
    streamFlats: openUpdates(reads),
    streamTrees: openUpdates(reads, true),
    streamCompletions: openCompletions(context),
    streamCommandCompletions: openCommandCompletions(context),
    streamActiveContracts: openActiveContracts(reads),
  }
  return Object.entries(openers).map(([id, open]) => ({
    ...socketRoutes[id as keyof typeof openers],
    async open({ request, caller, signal, countRows }) {
      const elements = await open(request, caller)
      return elements(await reads.guard.watch(caller, signal), { onRows: countRows })
    },
  }))
}

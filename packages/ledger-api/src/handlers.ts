/** The handlers of the ledger interface, one for each route of its table, and its WebSockets. */

import { type Openers, socketRoutes } from '@quorumscan/api'
import type { Caller } from './callers.ts'
import {
  type CompletionsDeps,
  openCommandCompletions,
  openCompletions,
} from './commands/completions.ts'
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

export function ledgerHandlers(deps: LedgerApiDeps): LedgerHandlers {
  const { reads, store, ledger, genesis, participantId, issuer } = deps
  return {
    ...stateHandlers({ reads, participantId }),
    ...commandHandlers(deps),
    ...ofDefaultProvider({ ...ledgerUserHandlers(store.users), ...partyHandlers(deps) }),
    ...updateHandlers(reads),
    ...packageHandlers({ ledger, genesis, participantId }),
    ...issuerHandlers({ issuer }),
  }
}

export function ledgerSockets(
  deps: CompletionsDeps & Pick<LedgerApiDeps, 'reads'>,
): readonly LedgerSocket[] {
  const { reads } = deps
  const openers: Openers<'/v2/', (request: never, caller: Caller) => Promise<OpenStream>> = {
    streamUpdates: openUpdates(reads),
    streamFlats: openUpdates(reads),
    streamTrees: openUpdates(reads, true),
    streamCompletions: openCompletions(deps),
    streamCommandCompletions: openCommandCompletions(deps),
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

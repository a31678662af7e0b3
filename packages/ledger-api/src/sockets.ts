/** The streams that are WebSockets as well (D-28). A stream is opened by what its HTTP twin is checked by. */
import { type Openers, socketRoutes } from '@quorumscan/api'
import {
  type ActiveContractsRequest,
  activeContracts,
  checkActiveContracts,
} from './active-contracts.ts'
import type { Caller } from './callers.ts'
import { checkCompletionsRequest, completionsOf } from './commands/completion-stream.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerSocket } from './http/ledger-sockets.ts'
import { checkUpdatesRequest, type UpdatesRequest, updatesOf } from './update-request.ts'

export function ledgerSockets(context: LedgerApiDeps): readonly LedgerSocket<Caller>[] {
  const { updates, active, guard } = context.reads
  const openers: Openers<'/v2/', LedgerSocket<Caller>['open']> = {
    async streamUpdates({ request, caller, signal }) {
      const query = await checkUpdatesRequest(updates, request as UpdatesRequest, caller)
      return updatesOf(updates, query, guard.watch(caller, signal))
    },
    async streamCompletions({ request, caller, signal }) {
      const query = await checkCompletionsRequest(context, request, caller)
      return completionsOf(context, query, guard.watch(caller, signal))
    },
    async streamActiveContracts({ request, caller, signal }) {
      const query = await checkActiveContracts(active, request as ActiveContractsRequest, caller)
      return activeContracts(active, query, guard.watch(caller, signal))
    },
  }
  return Object.entries(openers).map(([id, open]) => ({
    ...socketRoutes[id as keyof typeof openers],
    open,
  }))
}

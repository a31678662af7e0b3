/** The WebSockets of the interface. Each stream is also a list over HTTP (D-28). */
import { type Openers, socketRoutes } from '@quorumscan/api'
import { openActiveContracts } from './active-contracts.ts'
import type { Caller } from './callers.ts'
import { openCompletions } from './commands/completions.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerSocket } from './http/ledger-sockets.ts'
import { openUpdates } from './update-request.ts'
import type { OpenStream } from './update-stream.ts'

export function ledgerSockets(context: LedgerApiDeps): readonly LedgerSocket[] {
  const { reads } = context
  const openers: Openers<'/v2/', (request: never, caller: Caller) => Promise<OpenStream>> = {
    streamUpdates: openUpdates(reads),
    streamCompletions: openCompletions(context),
    streamActiveContracts: openActiveContracts(reads),
  }
  return Object.entries(openers).map(([id, open]) => ({
    ...socketRoutes[id as keyof typeof openers],
    async open({ request, caller, signal }) {
      const elements = await open(request, caller)
      return elements(reads.guard.watch(caller, signal))
    },
  }))
}

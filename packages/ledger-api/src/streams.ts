/** The streams of the interface, which are WebSockets as well as lists over HTTP (D-28). */
import { type CompletionsRequest, type Openers, socketRoutes } from '@quorumscan/api'
import {
  type ActiveContractsRequest,
  activeContracts,
  checkActiveContracts,
} from './active-contracts.ts'
import type { Caller } from './callers.ts'
import { checkCompletionsRequest, completionsOf } from './commands/completions.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerSocket } from './http/ledger-sockets.ts'
import type { LedgerReads } from './ledger-reads.ts'
import { checkUpdatesRequest, type UpdatesRequest, updatesOf } from './update-request.ts'
import type { Elements } from './update-stream.ts'

/** A request that was checked: its elements, until the signal aborts. */
export type OpenStream = (signal: AbortSignal) => Elements

export const openUpdates =
  (reads: LedgerReads, isTree = false) =>
  async (request: UpdatesRequest, caller: Caller): Promise<OpenStream> => {
    const query = await checkUpdatesRequest(reads, request, caller, isTree)
    return (signal) => updatesOf(reads, query, signal)
  }

export const openCompletions =
  (context: LedgerApiDeps) =>
  async (request: CompletionsRequest, caller: Caller): Promise<OpenStream> => {
    const query = await checkCompletionsRequest(context, request, caller)
    return (signal) => completionsOf(context, query, signal)
  }

export const openActiveContracts =
  (reads: LedgerReads) =>
  async (request: ActiveContractsRequest, caller: Caller): Promise<OpenStream> => {
    const query = await checkActiveContracts(reads, request, caller)
    return (signal) => activeContracts(reads, query, signal)
  }

export function ledgerSockets(context: LedgerApiDeps): readonly LedgerSocket<Caller>[] {
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

/** What the reading half of the ledger interface works with: one feed and one guard for all streams. */
import type { Clock } from '@quorumscan/base'
import type { Replica, UpdateHistory } from '@quorumscan/replica'
import type { Users } from '@quorumscan/users'
import type { Genesis } from '@quorumscan/verifier'
import type { ActiveContractsDeps } from './active-contracts.ts'
import { createStreamGuard, type StreamGuard } from './stream-guard.ts'
import { createUpdateFeed } from './update-feed.ts'

export type LedgerReads = AsyncDisposable &
  ActiveContractsDeps & {
    readonly guard: StreamGuard
    readonly history: UpdateHistory & Pick<Replica, 'prune'>
  }

export function createLedgerReads(deps: {
  readonly replica: Replica
  readonly users: Users
  readonly clock: Clock
  readonly genesis: Pick<Genesis, 'synchronizerId' | 'dso'>
}): LedgerReads {
  const { replica, users, clock, genesis } = deps
  const { history } = replica
  const feed = createUpdateFeed(replica)
  const guard = createStreamGuard({ users, clock })
  return {
    feed,
    clock,
    guard,
    synchronizerId: genesis.synchronizerId,
    operator: genesis.dso,
    prunedOffset: () => history.prunedOffset(),
    contracts: { ...history, walkContracts: replica.walkContracts },
    history: { ...history, prune: (upTo) => replica.prune(upTo) },
    async [Symbol.asyncDispose]() {
      feed.close()
      guard.close()
    },
  }
}

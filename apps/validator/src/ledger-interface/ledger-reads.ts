/** What the reading half of the ledger interface works with: one feed and one guard for all streams. */
import type { Clock } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/consensus'
import type { Replica } from '@quorumscan/replica'
import type { Users } from '@quorumscan/users'
import { createStreamGuard, type StreamGuard } from './stream-guard.ts'
import { createUpdateFeed } from './update-feed.ts'
import type { UpdatesDeps } from './update-request.ts'

export type LedgerReads = AsyncDisposable & {
  readonly updates: UpdatesDeps
  readonly guard: StreamGuard
  readonly history: Pick<Replica, 'updateById' | 'updateAt' | 'prune'>
}

export function createLedgerReads(deps: {
  readonly replica: Replica
  readonly users: Users
  readonly clock: Clock
  readonly genesis: Pick<Genesis, 'synchronizerId'>
}): LedgerReads {
  const { replica, users, clock } = deps
  const feed = createUpdateFeed(replica)
  const guard = createStreamGuard({ users, clock })
  return {
    updates: {
      feed,
      clock,
      synchronizerId: deps.genesis.synchronizerId,
      prunedOffset: () => replica.prunedOffset(),
    },
    guard,
    history: replica,
    async [Symbol.asyncDispose]() {
      feed.close()
      guard.close()
    },
  }
}

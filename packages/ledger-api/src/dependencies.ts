/** What the handlers of the ledger interface work with. The validator opens it; each handler names what it takes. */
import type { Clock, Random } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { GrowthShares } from '@quorumscan/submit'
import type { Users, ValidatorStore } from '@quorumscan/users'
import type { Genesis } from '@quorumscan/verifier'
import type { Registration } from '@quorumscan/wallet'
import type { Dispatcher } from './commands/dispatcher.ts'
import { createStreamGuard } from './stream-guard.ts'
import { createUpdateFeed } from './update-feed.ts'

export type LedgerApiDeps = {
  readonly ledger: Replica
  /** Updates and streams. */
  readonly reads: LedgerReads
  readonly store: Pick<ValidatorStore, 'users' | 'parties' | 'outbox'>
  readonly registration: Registration
  readonly dispatcher: Dispatcher
  /** What users add to the state. */
  readonly growth: GrowthShares
  readonly genesis: Genesis
  readonly genesisHash: string
  /** `participant::1220…`: this participant on the ledger interface. */
  readonly participantId: string
  /** The source of the keys that check tokens, empty with a shared secret, and the audience of tokens. */
  readonly issuer: { readonly jwksUrl: string; readonly audience: string }
  readonly random: Random
  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  readonly now: () => Micros
  /** @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED. */
  readonly assertLive: () => void
}

export type LedgerReads = ReturnType<typeof createLedgerReads>

/** What updates and streams work with: one feed and one guard for all streams. */
export function createLedgerReads(deps: {
  readonly replica: Replica
  readonly users: Users
  readonly clock: Clock
  readonly genesis: Pick<Genesis, 'synchronizerId' | 'dso'>
}) {
  const { replica, users, clock, genesis } = deps
  const feed = createUpdateFeed(replica)
  const guard = createStreamGuard({ users, clock })
  return {
    feed,
    clock,
    guard,
    replica,
    synchronizerId: genesis.synchronizerId,
    /** The operator party signs every contract, and is therefore in no index of contracts by party. */
    operator: genesis.dso,
    async [Symbol.asyncDispose]() {
      feed.close()
      guard.close()
    },
  }
}

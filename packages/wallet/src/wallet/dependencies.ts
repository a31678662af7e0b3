/** What the handlers of wallets, names and users work with. The validator opens it. */

import type { Micros } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { Commander } from '@quorumscan/submit'
import type { AutoRenewals, ValidatorStore } from '@quorumscan/users'
import type { Genesis } from '@quorumscan/verifier'
import type { RegistrationDeps } from '../users/registration.ts'
import type { PartyQueue } from './party-queue.ts'

export type WalletDeps = {
  readonly ledger: Replica
  readonly genesis: Pick<Genesis, 'synchronizerId'>
  readonly commander: Commander
  readonly queue: PartyQueue
  readonly autoRenewals: AutoRenewals
  readonly registration: RegistrationDeps
  readonly store: Pick<ValidatorStore, 'users'>
  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  readonly now: () => Micros
  /** @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED. */
  readonly assertLive: () => void
}

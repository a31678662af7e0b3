/** What the handlers of the ledger interface work with. The validator opens it. */
import type { Random } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { ValidatorStore } from '@quorumscan/users'
import type { Genesis } from '@quorumscan/verifier'
import type { Registration } from '@quorumscan/wallet'
import type { Dispatcher } from './commands/dispatcher.ts'
import type { SubmissionDeps } from './commands/submission.ts'
import type { LedgerReads } from './ledger-reads.ts'

export type LedgerApiDeps = {
  readonly ledger: Replica
  /** Updates and streams. */
  readonly reads: LedgerReads
  readonly store: Pick<ValidatorStore, 'users' | 'parties'>
  readonly registration: Registration
  readonly dispatcher: Dispatcher
  readonly submission: SubmissionDeps
  readonly genesis: Genesis
  /** `participant::1220…`: this participant on the ledger interface. */
  readonly participantId: string
  readonly random: Random
  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  readonly now: () => Micros
  /** @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED. */
  readonly assertLive: () => void
}

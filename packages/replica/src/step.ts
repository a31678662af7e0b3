/** One entry of the log with what it did: what batches are made of. */
import type { ActivityRow, Head, StateDelta } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'

/** The head after the entry, and the change that led there. */
export type Step = Head & {
  readonly delta: StateDelta
  /** What it adds to the activity history; absent for nothing. */
  readonly activities?: readonly ActivityRow[]
}

/** The name of a contract's template without package and module. */
export function entityOf(contract: Contract): string {
  return contract.templateId.slice(contract.templateId.lastIndexOf(':') + 1)
}

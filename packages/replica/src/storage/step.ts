/** One log entry with its effects. Batches consist of steps. */
import type { Head, KeptChange, StateDelta } from '@quorumscan/ledger'
import type { CompletionRecord, Contract, EntryResult } from '@quorumscan/model'
import type { StoredActivity, TreeRow } from './activity-member.ts'
import type { StoredUpdate } from './update-codec.ts'

/** The head after the entry, and the change that led there. */
export type Step = Head & {
  readonly delta: StateDelta
  /** The records that the changes in `delta` replace; absent for none. */
  readonly replacedChanges?: readonly KeptChange[]
  /** The rows that it adds to the activity history; absent for none. */
  readonly activities?: readonly TreeRow[]
  /** Its notices for the histories of single parties; absent where no history is stored. */
  readonly notices?: readonly StoredActivity[]
  /** The completion for its submitter; absent if the submitter is not of the local participant. */
  readonly completion?: CompletionRecord | undefined
  /** Its update; null for none, absent where no history of updates is stored. */
  readonly update?: StoredUpdate | null
}

export type InterpretedEntry = Step & { readonly result: EntryResult }

/** The name of a contract's template without package and module. */
export function entityOf(contract: Contract): string {
  return contract.templateId.slice(contract.templateId.lastIndexOf(':') + 1)
}

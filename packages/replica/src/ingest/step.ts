/** One entry of the log with what it did: what batches are made of. */
import type { ChangeRecord, Head, StateDelta } from '@quorumscan/ledger'
import type { CompletionRecord, Contract, EntryResult } from '@quorumscan/model'
import type { StoredActivity, TreeRow } from '../storage/activity-member.ts'
import type { StoredUpdate } from '../storage/update-codec.ts'

/** The head after the entry, and the change that led there. */
export type Step = Head & {
  readonly delta: StateDelta
  /** What the acceptance in `delta` takes the place of; absent or null for nothing. */
  readonly replacedChange?: ChangeRecord | null
  /** What it adds to the activity history; absent for nothing. */
  readonly activities?: readonly TreeRow[]
  /** What it adds to the own histories of parties beyond that; absent where no history is kept. */
  readonly notices?: readonly StoredActivity[]
  /** What its submitter is told; absent where that is nobody here. */
  readonly completion?: CompletionRecord | undefined
  /** What it adds to the history of updates; null for nothing, absent where no history is kept. */
  readonly update?: StoredUpdate | null
}

export type InterpretedEntry = Step & { readonly result: EntryResult }

/** The name of a contract's template without package and module. */
export function entityOf(contract: Contract): string {
  return contract.templateId.slice(contract.templateId.lastIndexOf(':') + 1)
}

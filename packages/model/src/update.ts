/** The result of the interpretation of one log entry. Its canonical JSON is hashed into the history. */

import type { Submission } from './command.ts'
import type { Contract, DamlValue } from './contract.ts'
import type { LogPosition, Offset } from './offset.ts'
import type { PartyId } from './party.ts'

/** An event has the stakeholders of its contract, so that projections need no look-up. */
type OfContract = Omit<Contract, 'payload' | 'createdAt' | 'offset' | 'updateId'>

export type CreatedEvent = OfContract & Pick<Contract, 'payload'> & { readonly kind: 'created' }

/** Archivals are consuming exercises. Descendants have node ids in (nodeId, lastDescendantNodeId]. */
export type ExercisedEvent = OfContract & {
  readonly kind: 'exercised'
  readonly lastDescendantNodeId: number
  readonly choice: string
  readonly argument: DamlValue
  readonly result: DamlValue
  readonly consuming: boolean
  readonly actingParties: readonly PartyId[]
}

export type LedgerEvent = CreatedEvent | ExercisedEvent

export type PartyAllocated = { readonly party: PartyId; readonly participant: string }

export type Update = {
  /** `1220` and 64 hex digits. */
  readonly updateId: string
  readonly workflowId: string
  /** In order of node ids. */
  readonly events: readonly LedgerEvent[]
  /** Topology: parties that the update hosts. */
  readonly allocated: readonly PartyAllocated[]
}

/** The identity of one submission, for its submitter. */
export type Completion = Pick<
  Submission,
  'userId' | 'actAs' | 'commandId' | 'submissionId' | 'deduplication' | 'traceparent'
>

/** The earlier acceptance of the change that a duplicate repeats. */
export type PriorAcceptance = { readonly offset: Offset; readonly submissionId: string }

type Rejected = {
  readonly kind: 'rejected'
  /** A `RejectionCode` of `packages/ledger`. */
  readonly code: string
  readonly message: string
  /** Of DUPLICATE_COMMAND only. */
  readonly prior?: PriorAcceptance
}

export type EntryResult =
  | { readonly kind: 'checkpoint' }
  /** Bytes that are no valid submission of this network (Rule 4): no completion, no effect. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | (Rejected & { readonly completion: Completion })
  | { readonly kind: 'accepted'; readonly completion: Completion; readonly update: Update }

/** The outcome of one submission, with its position in the log. */
export type CompletionRecord = LogPosition & {
  /** SHA-256 of the entry's bytes, hex: the submitter knows its own entry by it. */
  readonly entryHash: string
  readonly completion: Completion
  readonly outcome: { readonly kind: 'accepted'; readonly updateId: string } | Rejected
}

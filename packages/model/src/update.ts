/** The result of the interpretation of one log entry. Its canonical JSON is hashed into the history. */

import type { Deduplication } from './command.ts'
import type { ContractId, DamlValue, TemplateId } from './contract.ts'
import type { LogPosition, Offset } from './offset.ts'
import type { PartyId } from './party.ts'

export type CreatedEvent = {
  readonly kind: 'created'
  readonly nodeId: number
  readonly contractId: ContractId
  readonly templateId: TemplateId
  readonly packageName: string
  readonly payload: { readonly [field: string]: DamlValue }
  readonly signatories: readonly PartyId[]
  readonly observers: readonly PartyId[]
}

/** Archivals are consuming exercises. Descendants have node ids in (nodeId, lastDescendantNodeId]. */
export type ExercisedEvent = {
  readonly kind: 'exercised'
  readonly nodeId: number
  readonly lastDescendantNodeId: number
  readonly contractId: ContractId
  readonly templateId: TemplateId
  readonly packageName: string
  readonly choice: string
  readonly argument: DamlValue
  readonly result: DamlValue
  readonly consuming: boolean
  readonly actingParties: readonly PartyId[]
  /** Stakeholders of the exercised contract, so that projections need no look-up. */
  readonly signatories: readonly PartyId[]
  readonly observers: readonly PartyId[]
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
export type Completion = {
  readonly userId: string
  readonly actAs: readonly PartyId[]
  readonly commandId: string
  readonly submissionId: string
  readonly deduplication: Deduplication
  /** Of the submission, if it has one. */
  readonly traceparent?: string
}

/** The earlier acceptance of the change that a duplicate repeats. */
export type PriorAcceptance = { readonly offset: Offset; readonly submissionId: string }

export type EntryResult =
  | { readonly kind: 'checkpoint' }
  /** Bytes that are no valid submission of this network (Rule 4): no completion, no effect. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** `code` is a `RejectionCode` of `packages/ledger`. */
  | {
      readonly kind: 'rejected'
      readonly completion: Completion
      readonly code: string
      readonly message: string
      /** Of DUPLICATE_COMMAND only. */
      readonly prior?: PriorAcceptance
    }
  | { readonly kind: 'accepted'; readonly completion: Completion; readonly update: Update }

/** The outcome of one submission, with its position in the log. */
export type CompletionRecord = LogPosition & {
  /** SHA-256 of the entry's bytes, hex: the submitter knows its own entry by it. */
  readonly entryHash: string
  readonly completion: Completion
  readonly outcome:
    | { readonly kind: 'accepted'; readonly updateId: string }
    | {
        readonly kind: 'rejected'
        readonly code: string
        readonly message: string
        readonly prior?: PriorAcceptance
      }
}

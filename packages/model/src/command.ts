import type { ContractId, DamlValue } from './contract.ts'
import type { Offset } from './offset.ts'
import type { PartyId } from './party.ts'
import type { Micros } from './time.ts'

/** `template` is `<package id>:<Module>:<Entity>` or `#<package name>:<Module>:<Entity>`. */
export type Command =
  | { readonly kind: 'create'; readonly template: string; readonly argument: DamlValue }
  | {
      readonly kind: 'exercise'
      readonly template: string
      readonly contractId: ContractId
      readonly choice: string
      readonly argument: DamlValue
    }
  | {
      readonly kind: 'createAndExercise'
      readonly template: string
      readonly createArgument: DamlValue
      readonly choice: string
      readonly argument: DamlValue
    }
  /** Hosts a new party on the submitting participant; must be the only command, with no actAs (D-41). */
  | { readonly kind: 'allocateParty'; readonly hint: string }

/** How far back an accepted command with the same change ID blocks this one (D-29). */
export type Deduplication =
  | { readonly kind: 'duration'; readonly micros: Micros }
  /** Acceptances at offsets greater than this one block. */
  | { readonly kind: 'offset'; readonly offset: Offset }

/** `blob` is base64 of the canonical encoding that hashes to the contract id (D-31). */
export type DisclosedContract = { readonly contractId: ContractId; readonly blob: string }

/**
 * What a participant signs and the log carries (Rule 4). Its JSON is the body of a submission entry;
 * the framing is in `packages/ledger` (`entry.ts`).
 */
export type Submission = {
  /** Genesis hash, hex. */
  readonly genesis: string
  /** Ed25519 public key of the participant, hex. */
  readonly participant: string
  /** 16 random bytes, hex. */
  readonly id: string
  /** Record time after which replicas ignore the entry. */
  readonly notAfter: Micros
  readonly userId: string
  readonly actAs: readonly PartyId[]
  readonly readAs: readonly PartyId[]
  readonly commandId: string
  /** '' when the submitter gave none. */
  readonly submissionId: string
  readonly workflowId: string
  readonly deduplication: Deduplication
  readonly commands: readonly Command[]
  readonly disclosed: readonly DisclosedContract[]
  /** W3C trace context of the submitter, if it sent one; the completion has it, too. */
  readonly traceparent?: string
}

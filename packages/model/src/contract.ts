import type { Json } from '@quorumscan/verifier'
import type { Offset } from './offset.ts'
import type { PartyId } from './party.ts'
import type { Micros } from './time.ts'

/** `00` and 64 hex digits: SHA-256 over domain, update id, node id, template id and payload (D-31). */
export type ContractId = string

/** `<package id>:<Module>:<Entity>`. */
export type TemplateId = string

/** Daml-LF JSON: texts for Decimal, Int and Time, objects for records, `{tag, value}` for variants. */
export type DamlValue = Json

/** A contract as every replica holds it. */
export type Contract = {
  readonly contractId: ContractId
  readonly templateId: TemplateId
  /** Of the package, e.g. `quorumscan-name-service`. */
  readonly packageName: string
  readonly payload: { readonly [field: string]: DamlValue }
  readonly signatories: readonly PartyId[]
  /** Sorted, never overlapping the signatories. */
  readonly observers: readonly PartyId[]
  /** Record time of the transaction that created it. */
  readonly createdAt: Micros
  readonly offset: Offset
  readonly updateId: string
  readonly nodeId: number
}

/**
 * The state as interpretation reads it. Interpretation is synchronous and pure, so all cells that it reads must be
 * loaded before. It returns the missing cells. The caller loads them for a whole batch in one round trip, and repeats it.
 */
import type { Contract, ContractId, Micros, Offset, PartyId } from '@quorumscan/model'

/** Names a cell: a value of the state that is loaded by itself. */
export type CellKey =
  | { readonly kind: 'contract'; readonly id: ContractId }
  /** Ids of the active contracts filed under an index key, ascending. */
  | { readonly kind: 'index'; readonly key: string }
  /** The newest acceptance of a change ID, whose SHA-256, hex, is `id`; or the bytes of a day (`growthIdOf`). */
  | { readonly kind: 'change'; readonly id: string }
  /** Whether these entry bytes were applied before; `id` is their SHA-256, hex. */
  | { readonly kind: 'seen'; readonly id: string }
  | { readonly kind: 'party'; readonly id: PartyId }

/** The newest acceptance of a change, or the bytes of a participant's day (`growth.ts`). */
export type ChangeRecord = {
  readonly offset: Offset
  readonly recordTime: Micros
  /** Of a day: its bytes, in digits. */
  readonly submissionId: string
  /** The record may be dropped after this record time: no period can reach back to it, or the day is over. */
  readonly until: Micros
}

export type KeptChange = { readonly id: string; readonly record: ChangeRecord }

/** Undefined means "not loaded"; null or empty means "does not exist". */
export interface StateView {
  contract(id: ContractId): Contract | null | undefined
  index(key: string): readonly ContractId[] | undefined
  change(id: string): ChangeRecord | null | undefined
  /** `notAfter` of the entry seen. */
  seen(id: string): Micros | null | undefined
  isPartyAllocated(id: PartyId): boolean | undefined
}

/** What one entry changes. A contract created and archived by the same entry is in neither list. */
export type StateDelta = {
  readonly created: readonly Contract[]
  readonly archived: readonly Contract[]
  /** With the records that replace those of the same ids. */
  readonly changes: readonly KeptChange[]
  readonly seen: { readonly id: string; readonly until: Micros } | null
  readonly allocated: readonly PartyId[]
}

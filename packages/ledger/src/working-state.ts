/**
 * The part of the state that a batch of entries touches: cells loaded from a store, with the effects of
 * the entries interpreted since on top. It is the view of interpretation.
 */
import { assert } from '@quorumscan/base'
import type { Contract, ContractId, Micros, PartyId } from '@quorumscan/model'
import { keysOf } from './contract-keys.ts'
import type { ChangeRecord, StateDelta, StateView } from './state.ts'

/** A cell with its stored value; null, empty or false without a value. */
export type LoadedCell =
  | { readonly kind: 'contract'; readonly id: ContractId; readonly value: Contract | null }
  | { readonly kind: 'index'; readonly key: string; readonly value: readonly ContractId[] }
  | { readonly kind: 'change'; readonly id: string; readonly value: ChangeRecord | null }
  | { readonly kind: 'seen'; readonly id: string; readonly value: Micros | null }
  | { readonly kind: 'party'; readonly id: PartyId; readonly value: boolean }

export class WorkingState implements StateView {
  readonly #contracts = new Map<ContractId, Contract | null>()
  readonly #indexes = new Map<string, readonly ContractId[]>()
  readonly #changeRecords = new Map<string, ChangeRecord | null>()
  readonly #seen = new Map<string, Micros | null>()
  readonly #parties = new Map<PartyId, boolean>()
  /** The changes of the batch to each index key, for lists that are loaded later. */
  readonly #filed = new Map<string, { added: Set<ContractId>; removed: Set<ContractId> }>()

  contract(id: ContractId): Contract | null | undefined {
    return this.#contracts.get(id)
  }

  index(key: string): readonly ContractId[] | undefined {
    return this.#indexes.get(key)
  }

  change(id: string): ChangeRecord | null | undefined {
    return this.#changeRecords.get(id)
  }

  seen(id: string): Micros | null | undefined {
    return this.#seen.get(id)
  }

  isPartyAllocated(id: PartyId): boolean | undefined {
    return this.#parties.get(id)
  }

  /** Adds stored values. Effects applied since the store was read stay on top. */
  load(cells: Iterable<LoadedCell>): void {
    for (const cell of cells)
      switch (cell.kind) {
        case 'contract':
          if (!this.#contracts.has(cell.id)) this.#contracts.set(cell.id, cell.value)
          break
        case 'index':
          if (!this.#indexes.has(cell.key))
            this.#indexes.set(cell.key, this.#withFiled(cell.key, cell.value))
          break
        case 'change':
          if (!this.#changeRecords.has(cell.id)) this.#changeRecords.set(cell.id, cell.value)
          break
        case 'seen':
          if (!this.#seen.has(cell.id)) this.#seen.set(cell.id, cell.value)
          break
        case 'party':
          if (!this.#parties.has(cell.id)) this.#parties.set(cell.id, cell.value)
          break
      }
  }

  apply(delta: StateDelta): void {
    for (const contract of delta.archived) {
      this.#contracts.set(contract.contractId, null)
      for (const key of keysOf(contract)) this.#unfile(key, contract.contractId)
    }
    for (const contract of delta.created) {
      this.#contracts.set(contract.contractId, contract)
      for (const key of keysOf(contract)) this.#file(key, contract.contractId)
    }
    for (const { id, record } of delta.changes) this.#changeRecords.set(id, record)
    if (delta.seen !== null) this.#seen.set(delta.seen.id, delta.seen.until)
    for (const party of delta.allocated) this.#parties.set(party, true)
  }

  /** Ends a batch: values loaded from now on include all applied effects. */
  endBatch(): void {
    this.#filed.clear()
  }

  /** The number of loaded cells. */
  get cellCount(): number {
    return (
      this.#contracts.size +
      this.#indexes.size +
      this.#changeRecords.size +
      this.#seen.size +
      this.#parties.size
    )
  }

  /** Drops every loaded cell, to bound memory. Only between batches. */
  clear(): void {
    assert(this.#filed.size === 0, 'a batch is ended before the state is cleared')
    for (const cells of [
      this.#contracts,
      this.#indexes,
      this.#changeRecords,
      this.#seen,
      this.#parties,
    ])
      cells.clear()
  }

  #file(key: string, id: ContractId): void {
    const { added, removed } = this.#filedUnder(key)
    if (!removed.delete(id)) added.add(id)
    const ids = this.#indexes.get(key)
    if (ids !== undefined) this.#indexes.set(key, inserted(ids, id))
  }

  #unfile(key: string, id: ContractId): void {
    const { added, removed } = this.#filedUnder(key)
    if (!added.delete(id)) removed.add(id)
    const ids = this.#indexes.get(key)
    if (ids !== undefined)
      this.#indexes.set(
        key,
        ids.filter((other) => other !== id),
      )
  }

  #filedUnder(key: string) {
    let index = this.#filed.get(key)
    if (index === undefined) {
      index = { added: new Set<ContractId>(), removed: new Set<ContractId>() }
      this.#filed.set(key, index)
    }
    return index
  }

  #withFiled(key: string, stored: readonly ContractId[]): readonly ContractId[] {
    const filed = this.#filed.get(key)
    const kept = filed === undefined ? stored : stored.filter((id) => !filed.removed.has(id))
    return [...new Set([...kept, ...(filed?.added ?? [])])].sort()
  }
}

/** Inserts into an ascending list. */
function inserted(ids: readonly ContractId[], id: ContractId): readonly ContractId[] {
  const index = ids.findIndex((other) => other > id)
  return index === -1 ? [...ids, id] : ids.toSpliced(index, 0, id)
}

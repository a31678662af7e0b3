/**
 * The part of the state that a batch of entries touches: cells loaded from a store, with the effects of
 * the entries interpreted since on top. It is the view of interpretation and tells the writer what changed.
 */
import { assert } from '@quorumscan/base'
import type { Contract, ContractId, Micros, PartyId } from '@quorumscan/model'
import { dueOf, keysOf } from './contract-keys.ts'
import type { DueItem } from './ports.ts'
import type { ChangeRecord, StateDelta, StateView } from './state.ts'

/** A cell with its stored value; null, empty or false where there is none. */
export type LoadedCell =
  | { readonly kind: 'contract'; readonly id: ContractId; readonly value: Contract | null }
  | { readonly kind: 'index'; readonly key: string; readonly value: readonly ContractId[] }
  | { readonly kind: 'change'; readonly id: string; readonly value: ChangeRecord | null }
  | { readonly kind: 'seen'; readonly id: string; readonly value: Micros | null }
  | { readonly kind: 'party'; readonly id: PartyId; readonly value: boolean }

/** Net effect of all deltas applied since the last `takeChanges`. */
export type StateChanges = {
  /** In order of creation; what was created and archived in between is in neither list. */
  readonly created: readonly Contract[]
  readonly archived: readonly Contract[]
  readonly indexes: readonly {
    readonly key: string
    readonly added: readonly ContractId[]
    readonly removed: readonly ContractId[]
  }[]
  readonly dueAdded: readonly DueItem[]
  readonly dueRemoved: readonly DueItem[]
  readonly changes: readonly { readonly id: string; readonly record: ChangeRecord }[]
  readonly seen: readonly { readonly id: string; readonly until: Micros }[]
  readonly allocated: readonly PartyId[]
}

export class WorkingState implements StateView {
  readonly #contracts = new Map<ContractId, Contract | null>()
  readonly #indexes = new Map<string, readonly ContractId[]>()
  readonly #changeRecords = new Map<string, ChangeRecord | null>()
  readonly #seen = new Map<string, Micros | null>()
  readonly #parties = new Map<PartyId, boolean>()
  #pending = emptyPending()

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

  /** Takes over stored values. What was applied since the store was read stays on top. */
  load(cells: Iterable<LoadedCell>): void {
    for (const cell of cells)
      switch (cell.kind) {
        case 'contract':
          if (!this.#contracts.has(cell.id)) this.#contracts.set(cell.id, cell.value)
          break
        case 'index':
          if (!this.#indexes.has(cell.key))
            this.#indexes.set(cell.key, this.#withPending(cell.key, cell.value))
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
      if (!this.#pending.created.delete(contract.contractId))
        this.#pending.archived.set(contract.contractId, contract)
      for (const key of keysOf(contract)) this.#unfile(key, contract.contractId)
    }
    for (const contract of delta.created) {
      this.#contracts.set(contract.contractId, contract)
      this.#pending.created.set(contract.contractId, contract)
      for (const key of keysOf(contract)) this.#file(key, contract.contractId)
    }
    if (delta.change !== null) {
      this.#changeRecords.set(delta.change.id, delta.change.record)
      this.#pending.changes.set(delta.change.id, delta.change.record)
    }
    if (delta.seen !== null) {
      this.#seen.set(delta.seen.id, delta.seen.until)
      this.#pending.seen.set(delta.seen.id, delta.seen.until)
    }
    for (const party of delta.allocated) {
      this.#parties.set(party, true)
      this.#pending.allocated.add(party)
    }
  }

  /** What the writer must store, once; the loaded cells stay. */
  takeChanges(): StateChanges {
    const pending = this.#pending
    this.#pending = emptyPending()
    const created = [...pending.created.values()]
    const archived = [...pending.archived.values()]
    return {
      created,
      archived,
      indexes: [...pending.indexes].flatMap(([key, { added, removed }]) =>
        added.size + removed.size === 0 ? [] : [{ key, added: [...added], removed: [...removed] }],
      ),
      dueAdded: created.flatMap(dueOf),
      dueRemoved: archived.flatMap(dueOf),
      changes: [...pending.changes].map(([id, record]) => ({ id, record })),
      seen: [...pending.seen].map(([id, until]) => ({ id, until })),
      allocated: [...pending.allocated],
    }
  }

  /** How many cells are held. */
  get cellCount(): number {
    return (
      this.#contracts.size +
      this.#indexes.size +
      this.#changeRecords.size +
      this.#seen.size +
      this.#parties.size
    )
  }

  /** Forgets every loaded cell, to bound memory. Only between batches. */
  clear(): void {
    assert(
      this.#pending.created.size + this.#pending.archived.size + this.#pending.seen.size === 0,
      'changes are taken before the state is cleared',
    )
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
    const { added, removed } = this.#pendingIndex(key)
    if (!removed.delete(id)) added.add(id)
    const ids = this.#indexes.get(key)
    if (ids !== undefined) this.#indexes.set(key, inserted(ids, id))
  }

  #unfile(key: string, id: ContractId): void {
    const { added, removed } = this.#pendingIndex(key)
    if (!added.delete(id)) removed.add(id)
    const ids = this.#indexes.get(key)
    if (ids !== undefined)
      this.#indexes.set(
        key,
        ids.filter((other) => other !== id),
      )
  }

  #pendingIndex(key: string) {
    let index = this.#pending.indexes.get(key)
    if (index === undefined) {
      index = { added: new Set<ContractId>(), removed: new Set<ContractId>() }
      this.#pending.indexes.set(key, index)
    }
    return index
  }

  #withPending(key: string, stored: readonly ContractId[]): readonly ContractId[] {
    const pending = this.#pending.indexes.get(key)
    const kept = pending === undefined ? stored : stored.filter((id) => !pending.removed.has(id))
    return [...new Set([...kept, ...(pending?.added ?? [])])].sort()
  }
}

function emptyPending() {
  return {
    created: new Map<ContractId, Contract>(),
    archived: new Map<ContractId, Contract>(),
    indexes: new Map<string, { added: Set<ContractId>; removed: Set<ContractId> }>(),
    changes: new Map<string, ChangeRecord>(),
    seen: new Map<string, Micros>(),
    allocated: new Set<PartyId>(),
  }
}

/** Into an ascending list, at its place. */
function inserted(ids: readonly ContractId[], id: ContractId): readonly ContractId[] {
  const index = ids.findIndex((other) => other > id)
  return index === -1 ? [...ids, id] : ids.toSpliced(index, 0, id)
}

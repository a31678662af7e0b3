/**
 * The state tree of one history of the log. Ingest applies each entry to it, in order. The tree has a root at each
 * certifiable offset, however the log was cut into batches. The trees of recent certifiable offsets stay in memory.
 */
import { assert, held, sha256, toBase64, toHex } from '@quorumscan/base'
import type { Contract, Offset } from '@quorumscan/model'
import type { Genesis, HistoryPoint, StatePoint } from '@quorumscan/verifier'
import {
  append,
  createStateTree,
  EMPTY_FRONTIER,
  type Frontier,
  keyOf,
  NODE_BYTES,
} from '@quorumscan/verifier/state-tree'
import { type EntryFacts, entryFacts, versionFieldOf } from '../storage/plan-versions.ts'
import type { Step } from '../storage/step.ts'
import { createLeafStore, nameKey, partyKey } from './leaf-store.ts'
import { isCertifiable } from './signed-offsets.ts'
import {
  activitiesLeaf,
  type ConstantLeaf,
  type Documents,
  documentLeaves,
  membersLeaf,
} from './state-values.ts'

/** Record time for which trees are stored. A walk over pages takes less. */
export const RECENT_MICROS = 60_000_000
/** Memory that these trees may use in addition to the newest one. */
export const RECENT_STATES_BYTES_MAX = 64 * 2 ** 20

/** A certifiable offset whose tree is stored. */
export type RecentState = {
  readonly point: StatePoint
  /** The root in `StateHistory.tree`; null: the tree is empty. */
  readonly root: number | null
  readonly activities: Frontier
}

/** An entry to be removed is missing, or one to be added exists already: stored state and log differ. */
export class StateMismatchError extends Error {
  override readonly name = 'StateMismatchError'
}

/** The tree was built from a log with another history. */
export class OtherHistoryError extends Error {
  override readonly name = 'OtherHistoryError'
}

/** Starts without entries and documents. */
export function createStateHistory(
  genesis: Genesis,
  { recentBytesMax = RECENT_STATES_BYTES_MAX }: { readonly recentBytesMax?: number } = {},
) {
  const store = createLeafStore()
  const tree = createStateTree(store, { sha256, toBase64 })
  const recent: RecentState[] = []
  const untaken: StatePoint[] = []
  const documents = held(
    {
      owner: 'replica',
      name: 'documents of the state tree',
      kind: 'state',
      bound: 'those of the state',
    },
    new Map<string, readonly Contract[]>(),
  )
  let isDocumentsChanged = false
  let activities = EMPTY_FRONTIER
  /** The activity tree that the leaf of the state tree has. */
  let committed: Frontier | null = null
  let applied: HistoryPoint = { offset: -1, recordTime: 0, historyHash: '' }

  const addLeaf = (id: number): void => {
    if (!tree.add(id)) throw new StateMismatchError('two entries have one key')
  }
  const removeLeaf = (key: Uint8Array): void => {
    if (!tree.remove(key)) throw new StateMismatchError('an archived entry is missing')
  }
  const putConstant = ({ key, value }: ConstantLeaf): void => {
    const bytes = keyOf(key)
    tree.remove(bytes)
    addLeaf(store.putValue(bytes, value))
  }

  /** Adds an entry. @throws {StateMismatchError} If an entry with its key exists. */
  const add = (entry: EntryFacts): void => {
    for (const id of store.putEntry(entry)) addLeaf(id)
  }
  /** Removes an entry. @throws {StateMismatchError} If the entry does not exist. */
  // The leaf by name is removed last, because that frees the record.
  const remove = ({ name, contractId, user }: EntryFacts): void => {
    if (contractId !== null) removeLeaf(partyKey(user, name, contractId))
    removeLeaf(nameKey(name, contractId))
  }

  /** Bytes that the recent states take in addition to the newest one. */
  const recentBytes = (): number => {
    const newestNodes = Math.max(0, 2 * tree.leafCount() - 1)
    return (tree.nodeCount() - newestNodes) * NODE_BYTES
  }

  const releaseOld = (newest: HistoryPoint): void => {
    const isOld = ({ point }: RecentState) => point.recordTime < newest.recordTime - RECENT_MICROS
    while (
      recent.length > 1 &&
      (isOld(recent[0] as RecentState) || recentBytes() > recentBytesMax)
    ) {
      tree.releaseOldest()
      recent.shift()
    }
  }

  /** Stores the present state as that of a certifiable offset. */
  const commit = ({ offset, recordTime, historyHash }: HistoryPoint): void => {
    if (isDocumentsChanged) for (const leaf of documentLeaves(documents, genesis)) putConstant(leaf)
    isDocumentsChanged = false
    if (activities !== committed) putConstant(activitiesLeaf(activities))
    committed = activities
    const { rootHash, root } = tree.commit()
    const point = { offset, recordTime, historyHash, stateRoot: toHex(rootHash) }
    recent.push({ point, root, activities })
    untaken.push(point)
    releaseOld(point)
  }

  const change = (contract: Contract, isCreated: boolean): void => {
    const found = versionFieldOf(contract)
    if (found === null) return
    if (found.kind === 'names') {
      if (isCreated) add(entryFacts(contract))
      else remove(entryFacts(contract))
      return
    }
    const { contractId } = contract
    const others = (documents.get(found.field) ?? []).filter((one) => one.contractId !== contractId)
    documents.set(found.field, isCreated ? [contract, ...others] : others)
    isDocumentsChanged = true
  }

  const assertSameHistory = ({ offset, historyHash }: HistoryPoint): void => {
    const known =
      offset === applied.offset
        ? applied
        : recent.find(({ point }) => point.offset === offset)?.point
    if (known !== undefined && known.historyHash !== historyHash)
      throw new OtherHistoryError(`the log has another history at ${offset} than the state`)
  }

  putConstant(membersLeaf(genesis))
  return {
    /** The history point up to which entries were applied; before the genesis at first. */
    appliedUpTo: () => applied,
    /** The stored states, oldest first. */
    recent: (): readonly RecentState[] => recent,
    /** Removes and returns new points up to an offset, oldest first, also of states that are no longer stored. */
    takePoints(upTo: Offset): readonly StatePoint[] {
      const end = untaken.findIndex(({ offset }) => offset > upTo)
      return untaken.splice(0, end < 0 ? untaken.length : end)
    },
    /**
     * Applies the next entry of the log. An entry that was applied before is only compared: it arrives again after Redis
     * lost its last seconds.
     *
     * @throws {OtherHistoryError} If the log has another history than the tree.
     * @throws {StateMismatchError} As `add` and `remove`.
     */
    apply(step: Step, isCheckpoint: boolean): void {
      const { offset, recordTime, historyHash, delta, activities: rows = [] } = step
      if (offset <= applied.offset) {
        assertSameHistory({ offset, recordTime, historyHash })
        return
      }
      assert(offset === applied.offset + 1, 'entries are applied without gaps')
      for (const contract of delta.archived) change(contract, false)
      for (const contract of delta.created) change(contract, true)
      for (const { leafHash } of rows) activities = append(activities, leafHash, sha256)
      const before = applied.recordTime
      applied = { offset, recordTime, historyHash }
      if (isCertifiable({ offset, recordTime, isCheckpoint }, before)) commit(applied)
    },
    add,
    remove,
    setDocuments(all: Documents): void {
      documents.clear()
      for (const [entity, contracts] of all) documents.set(entity, contracts)
      isDocumentsChanged = true
    },
    /** Sets the activity tree of the present state. */
    setActivities(tree: Frontier): void {
      activities = tree
    },
    commit,
    /** Sets the history point after which entries are applied. */
    moveTo(at: HistoryPoint): void {
      applied = at
    },
    /** Reads the trees of `recent`. */
    tree,
    leafAt: store.leafAt,
    recentBytes,
  }
}

export type StateHistory = ReturnType<typeof createStateHistory>

/** The state of a ledger at its certifiable offsets, as every honest node makes it: trees, roots and proofs. */
import { sha256, utf8 } from '@quorumscan/base'
import {
  encodeProof,
  type ProofItem,
  prune,
  type Question,
  visibleLeaves,
} from '@quorumscan/consensus/certified'
import { createStateTree, type Version } from '@quorumscan/consensus/state-tree'
import { entryToWire, type SimEntry } from '@quorumscan/testkit'

type StoredLeaf = {
  readonly key: Uint8Array
  readonly expiresAt: number | null
  readonly valueHash: Uint8Array
  readonly value: string
}

export type States = {
  /** The entries that there are from an offset on, visible or not; certifiable ones get a root. */
  append(input: {
    readonly offset: number
    readonly put: readonly SimEntry[]
    readonly remove: readonly string[]
    readonly isCertifiable: boolean
  }): void
  rootAt(offset: number): Uint8Array
  prove(
    question: Question<unknown>,
    at: { readonly offset: number; readonly recordTime: number },
  ): readonly ProofItem[]
}

export function createStates(): States {
  const leaves: StoredLeaf[] = []
  const tree = createStateTree((id) => leaves[id] as StoredLeaf, sha256)
  const versions = new Map<number, Version>()
  const idsByName = new Map<string, readonly number[]>()
  const removed = new Set<number>()
  const added = new Set<number>()

  const leafOf = (components: readonly string[], entry: SimEntry): number => {
    const value = JSON.stringify(entryToWire(entry))
    const key = utf8(components.map((component) => `${component}\0`).join(''))
    const valueHash = sha256(utf8(value))
    return leaves.push({ key, expiresAt: entry.expiresAt, valueHash, value }) - 1
  }

  const drop = (name: string): void => {
    for (const id of idsByName.get(name) ?? []) if (!added.delete(id)) removed.add(id)
    idsByName.delete(name)
  }

  const versionAt = (offset: number): Version => {
    const version = versions.get(offset)
    if (version === undefined) throw new RangeError(`offset ${offset} is not certifiable`)
    return version
  }

  return {
    append({ offset, put, remove, isCertifiable }) {
      for (const name of remove) drop(name)
      for (const entry of put) {
        drop(entry.name)
        const { name, user, contractId } = entry
        const ids = [
          leafOf(['n', name, contractId], entry),
          leafOf(['p', user, name, contractId], entry),
        ]
        idsByName.set(name, ids)
        for (const id of ids) added.add(id)
      }
      if (!isCertifiable) return
      versions.set(offset, tree.commit({ removed, added }))
      removed.clear()
      added.clear()
    },
    rootAt: (offset) => versionAt(offset).rootHash,
    prove(question, { offset, recordTime }) {
      const { root } = versionAt(offset)
      return question.ranges.flatMap((range) => {
        const pruned = root === null ? null : prune(tree, root, { ...range, at: recordTime })
        const values = new Map(
          visibleLeaves(pruned).map((leaf) => [leaf, (leaf as StoredLeaf).value]),
        )
        return encodeProof(pruned, (leaf) => values.get(leaf) as string) // Asked for what is visible.
      })
    },
  }
}

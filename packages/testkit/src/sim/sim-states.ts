/** The state of a ledger at its certifiable offsets, as every honest node builds it: trees, roots and proofs. */
import { sha256, utf8 } from '@quorumscan/base'
import {
  encodeProof,
  joinProofs,
  prune,
  type Question,
  visibleLeaves,
} from '@quorumscan/verifier/certified'
import { createStateTree, type Version } from '@quorumscan/verifier/state-tree'
import { entryToWire, type SimEntry } from './sim-ledger.ts'

type StoredLeaf = {
  readonly key: Uint8Array
  readonly expiresAt: number | null
  readonly valueHash: Uint8Array
  readonly value: string
}

export type SimStates = {
  /** Adds and removes entries at an offset, visible or not. A certifiable offset gets a root. */
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
  ): string
}

export function createSimStates(): SimStates {
  const leaves: StoredLeaf[] = []
  // The tree passes only ids that were added.
  const leafAt = (id: number) => leaves[id] as StoredLeaf
  const tree = createStateTree(
    { leafAt, keyAt: (id) => leafAt(id).key },
    {
      sha256,
      toBase64: (hash) => Buffer.from(hash).toString('base64'),
    },
  )
  const versions = new Map<number, Version>()
  const keysByName = new Map<string, readonly Uint8Array[]>()

  const add = (components: readonly string[], entry: SimEntry): Uint8Array => {
    const value = JSON.stringify(entryToWire(entry))
    const key = utf8(components.map((component) => `${component}\0`).join(''))
    const valueHash = sha256(utf8(value))
    tree.add(leaves.push({ key, expiresAt: entry.expiresAt, valueHash, value }) - 1)
    return key
  }

  const drop = (name: string): void => {
    for (const key of keysByName.get(name) ?? []) tree.remove(key)
    keysByName.delete(name)
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
        keysByName.set(name, [
          add(['n', name, contractId], entry),
          add(['p', user, name, contractId], entry),
        ])
      }
      if (isCertifiable) versions.set(offset, tree.commit())
    },
    rootAt: (offset) => versionAt(offset).rootHash,
    prove(question, { offset, recordTime }) {
      const { root } = versionAt(offset)
      const proofs = question.ranges.map((range) => {
        const pruned = root === null ? null : prune(tree, root, { ...range, at: recordTime })
        const values = new Map(
          visibleLeaves(pruned).map((leaf) => [leaf, (leaf as StoredLeaf).value]),
        )
        return encodeProof(pruned, (leaf) => values.get(leaf) as string) // Only of visible leaves.
      })
      return joinProofs(proofs)
    },
  }
}

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Pruned, prune } from './prune.ts'
import { encodeProof } from './range-proof.ts'
import { createStateTree } from './state-tree.ts'
import * as arbitrary from './testing/arbitraries.ts'
import {
  buildNaiveTree,
  leafOf,
  naiveReader,
  naiveRootHash,
  sha256,
  type ValuedLeaf,
} from './testing/naive-tree.ts'
import { EMPTY_ROOT } from './tree-hash.ts'

const proofOf = (pruned: Pruned) => encodeProof(pruned, (leaf) => (leaf as ValuedLeaf).value)

/** Leaves by number, as a replica would keep them. */
function createWorld() {
  const known: ValuedLeaf[] = []
  const tree = createStateTree((id) => known[id] as ValuedLeaf, sha256)
  return { tree, add: (leaf: ValuedLeaf) => known.push(leaf) - 1 }
}

it('has the root of its set of leaves, whatever led there, in each version until it is released', () => {
  const step = fc.tuple(fc.array(fc.nat()), fc.integer({ min: 0, max: 8 }), fc.boolean())
  fc.assert(
    fc.property(
      arbitrary.leaves,
      fc.array(step, { maxLength: 12 }),
      arbitrary.range,
      (all, steps, range) => {
        const { tree, add } = createWorld()
        const present = new Map<ValuedLeaf, number>()
        const kept: { leaves: ValuedLeaf[]; root: number | null }[] = []
        for (const [picks, addedMax, isReleased] of steps) {
          const removed = new Set(
            picks.flatMap((pick) => [...present.keys()][pick % Math.max(1, present.size)] ?? []),
          )
          const ids = [...removed].map((leaf) => present.get(leaf) as number)
          for (const leaf of removed) present.delete(leaf)
          // What was removed may come again in the same commit.
          const added = all.filter((leaf) => !present.has(leaf)).slice(0, addedMax)
          for (const leaf of added) present.set(leaf, add(leaf))
          const version = tree.commit({
            removed: ids,
            added: added.map((leaf) => present.get(leaf) as number),
          })
          const leaves = [...present.keys()]
          expect(version.rootHash).toEqual(Uint8Array.from(naiveRootHash(leaves)))
          kept.push({ leaves, root: version.root })
          if (isReleased && kept.length > 1) {
            tree.releaseOldest()
            kept.shift()
          }
          for (const { leaves, root } of kept) {
            const naive = buildNaiveTree(leaves)
            if (naive === null || root === null) expect([naive, root]).toEqual([null, null])
            else
              expect(proofOf(prune(tree, root, range))).toEqual(
                proofOf(prune(naiveReader, naive, range)),
              )
          }
        }
        while (kept.length > 1) {
          tree.releaseOldest()
          kept.shift()
        }
        expect(tree.nodeCount()).toBe(Math.max(0, 2 * present.size - 1))
      },
    ),
  )
})

it('is empty before the first leaf and behind the last', () => {
  const { tree, add } = createWorld()
  const id = add(leafOf(['a'], 'value'))
  const none: number[] = []
  expect(tree.commit({ removed: none, added: none })).toEqual({ rootHash: EMPTY_ROOT, root: null })
  expect(tree.commit({ removed: none, added: [id] }).root).not.toBeNull()
  expect(tree.commit({ removed: [id], added: none })).toEqual({ rootHash: EMPTY_ROOT, root: null })
})

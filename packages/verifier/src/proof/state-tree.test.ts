import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toBase64 } from '../encoding/base64.ts'
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
  const freed: number[] = []
  const leafAt = (id: number) => {
    if (freed.includes(id)) throw new Error(`leaf ${id} was freed`)
    return known[id] as ValuedLeaf
  }
  const leaves = {
    leafAt,
    keyAt: (id: number) => leafAt(id).key,
    onFreed: (id: number) => freed.push(id),
  }
  const tree = createStateTree(leaves, { sha256, toBase64 })
  return { tree, freed, number: (leaf: ValuedLeaf) => known.push(leaf) - 1 }
}

it('has the root of its set of leaves, for any history, in each version until it is released', () => {
  const step = fc.tuple(fc.array(fc.nat()), fc.integer({ min: 0, max: 8 }), fc.boolean())
  fc.assert(
    fc.property(
      arbitrary.leaves,
      fc.array(step, { maxLength: 12 }),
      arbitrary.range,
      (all, steps, range) => {
        const { tree, freed, number } = createWorld()
        const present = new Map<ValuedLeaf, number>()
        const kept: { leaves: ValuedLeaf[]; root: number | null }[] = []
        for (const [picks, addedMax, isReleased] of steps) {
          const removed = new Set(
            picks.flatMap((pick) => [...present.keys()][pick % Math.max(1, present.size)] ?? []),
          )
          for (const leaf of removed) {
            present.delete(leaf)
            expect([tree.remove(leaf.key), tree.remove(leaf.key)]).toEqual([true, false])
          }
          // What was removed may come again in the same commit.
          for (const leaf of all.filter((one) => !present.has(one)).slice(0, addedMax)) {
            const id = number(leaf)
            present.set(leaf, id)
            expect([tree.add(id), tree.add(id)]).toEqual([true, false])
          }
          const version = tree.commit()
          for (const leaf of all) expect(tree.find(version.root, leaf.key)).toBe(present.get(leaf))
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
        expect(tree.leafCount()).toBe(present.size)
        expect(tree.nodeCount()).toBe(Math.max(0, 2 * present.size - 1))
        const either = [...freed, ...present.values()].toSorted((a, b) => a - b)
        expect(either).toEqual(Array.from({ length: either.length }, (_, id) => id))
      },
    ),
  )
})

it('is empty before the first leaf and after the last', () => {
  const { tree, number } = createWorld()
  const leaf = leafOf(['a'], 'value')
  expect(tree.commit()).toEqual({ rootHash: EMPTY_ROOT, root: null })
  expect(tree.find(null, leaf.key)).toBeUndefined()
  tree.add(number(leaf))
  expect(tree.commit().root).not.toBeNull()
  tree.remove(leaf.key)
  expect(tree.commit()).toEqual({ rootHash: EMPTY_ROOT, root: null })
})

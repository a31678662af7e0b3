/**
 * The state tree in memory: packed, because a network has many names, and persistent, because proofs are asked
 * for at offsets that updates have passed. A version shares with the one before all that did not change.
 *
 * The tree knows leaves by numbers; what they are, and where that is kept, is the caller's.
 */
import { bitAt, firstDifference } from './bits.ts'
import type { TreeReader } from './prune.ts'
import { EMPTY_ROOT, HASH_BYTES, hashInner, hashLeaf, type Leaf, type Sha256 } from './tree-hash.ts'

/** A tree as of one commit; its nodes are there until it is released. */
export type Version = {
  readonly rootHash: Uint8Array
  /** For `prune`; null: without leaves. */
  readonly root: number | null
}

export interface StateTree extends TreeReader<number> {
  /**
   * Removes and adds leaves, and makes the next version. Each leaf that is removed is there, no key that is
   * added is.
   */
  commit(changes: { readonly removed: Iterable<number>; readonly added: Iterable<number> }): Version
  /** Forgets the oldest version, but for what younger ones share with it. */
  releaseOldest(): void
  /** Of nodes that some version has. */
  nodeCount(): number
}

const NONE = -1
/** The bit index of what is no inner node. */
const IS_LEAF = 0xffff
const CAPACITY_MIN = 1024

/**
 * @param leafAt - The leaf of a number, as long as a version that has it is not released.
 */
export function createStateTree(leafAt: (id: number) => Leaf, sha256: Sha256): StateTree {
  let capacity = CAPACITY_MIN
  /** Of an inner node the bit, of a leaf `IS_LEAF`. */
  let bits = new Uint16Array(capacity)
  /** Of an inner node its children. */
  let lefts = new Int32Array(capacity)
  let rights = new Int32Array(capacity)
  /** Of an inner node any leaf below, of a leaf its own number. */
  let leafIds = new Int32Array(capacity)
  /** The commit that made the node: in the same one it may still be changed. */
  let commits = new Uint32Array(capacity)
  let hashes = new Uint8Array(capacity * HASH_BYTES)
  let used = 0
  const free: number[] = []

  let commitNumber = 0
  let root = NONE
  /** For each version but the oldest: the nodes of the one before that it does not have. */
  const retired: number[][] = []
  let retiring: number[] = []

  const grow = () => {
    capacity *= 2
    bits = copyInto(new Uint16Array(capacity), bits)
    lefts = copyInto(new Int32Array(capacity), lefts)
    rights = copyInto(new Int32Array(capacity), rights)
    leafIds = copyInto(new Int32Array(capacity), leafIds)
    commits = copyInto(new Uint32Array(capacity), commits)
    hashes = copyInto(new Uint8Array(capacity * HASH_BYTES), hashes)
  }

  const allocate = (bit: number, leafId: number): number => {
    if (free.length === 0 && used === capacity) grow()
    const node = free.pop() ?? used++
    bits[node] = bit
    leafIds[node] = leafId
    commits[node] = commitNumber
    return node
  }

  /** The node is not part of the next version. */
  const drop = (node: number) => {
    if (commits[node] === commitNumber) free.push(node)
    else retiring.push(node)
  }

  const childOf = (node: number, key: Uint8Array) =>
    at(bitAt(key, at(bits, node)) === 0 ? lefts : rights, node)

  /** An inner node of the next version with these children: the node itself, or a copy in its place. */
  const withChildren = (node: number, left: number, right: number): number => {
    const bit = at(bits, node)
    let own = node
    if (commits[node] !== commitNumber) {
      retiring.push(node)
      own = allocate(bit, NONE)
    }
    lefts[own] = left
    rights[own] = right
    leafIds[own] = at(leafIds, left)
    return own
  }

  const replaceChild = (node: number, key: Uint8Array, child: number): number =>
    bitAt(key, at(bits, node)) === 0
      ? withChildren(node, child, at(rights, node))
      : withChildren(node, at(lefts, node), child)

  const keyBelow = (node: number) => leafAt(at(leafIds, node)).key

  const insert = (id: number) => {
    const { key } = leafAt(id)
    const leaf = allocate(IS_LEAF, id)
    if (root === NONE) {
      root = leaf
      return
    }
    let nearest = root
    while (bits[nearest] !== IS_LEAF) nearest = childOf(nearest, key)
    const bit = firstDifference(key, keyBelow(nearest))
    const place = (node: number): number => {
      if (at(bits, node) < bit) return replaceChild(node, key, place(childOf(node, key)))
      const branch = allocate(bit, id)
      const [left, right] = bitAt(key, bit) === 0 ? [leaf, node] : [node, leaf]
      lefts[branch] = left
      rights[branch] = right
      return branch
    }
    root = place(root)
  }

  const remove = (id: number) => {
    const { key } = leafAt(id)
    const without = (node: number): number => {
      if (bits[node] === IS_LEAF) {
        drop(node)
        return NONE
      }
      const child = without(childOf(node, key))
      if (child !== NONE) return replaceChild(node, key, child)
      drop(node)
      return at(bitAt(key, at(bits, node)) === 0 ? rights : lefts, node)
    }
    root = without(root)
  }

  const hashOf = (node: number) => hashes.subarray(node * HASH_BYTES, (node + 1) * HASH_BYTES)

  /** Hashes what this commit made; all else has its hash. */
  const rehash = (node: number): void => {
    if (commits[node] !== commitNumber) return
    const bit = at(bits, node)
    if (bit === IS_LEAF) {
      hashes.set(hashLeaf(leafAt(at(leafIds, node)), sha256), node * HASH_BYTES)
      return
    }
    const [left, right] = [at(lefts, node), at(rights, node)]
    rehash(left)
    rehash(right)
    const hash = hashInner({ bit, left: hashOf(left), right: hashOf(right) }, sha256)
    hashes.set(hash, node * HASH_BYTES)
  }

  return {
    commit({ removed, added }) {
      commitNumber += 1
      retiring = []
      for (const id of removed) remove(id)
      for (const id of added) insert(id)
      retired.push(retiring)
      if (root === NONE) return { rootHash: EMPTY_ROOT, root: null }
      rehash(root)
      return { rootHash: hashOf(root).slice(), root }
    },
    releaseOldest() {
      retired.shift()
      free.push(...(retired[0] ?? []))
      if (retired[0] !== undefined) retired[0] = []
    },
    nodeCount: () => used - free.length,
    open(node) {
      const bit = at(bits, node)
      if (bit === IS_LEAF) return leafAt(at(leafIds, node))
      return { bit, left: at(lefts, node), right: at(rights, node) }
    },
    keyBelow,
    hash: (node) => hashOf(node).slice(),
  }
}

/** What stands there: nodes are numbers that the tree itself gave. */
function at(array: Int32Array | Uint16Array, index: number): number {
  return array[index] as number
}

function copyInto<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array>(
  to: T,
  from: T,
): T {
  to.set(from)
  return to
}

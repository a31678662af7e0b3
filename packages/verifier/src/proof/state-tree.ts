/**
 * The state tree in memory: packed, because a network has many names, and persistent, because proofs are asked
 * for at offsets that updates have passed. A version shares with the one before all that did not change.
 *
 * The tree knows leaves by numbers; the caller stores their content.
 */
import { bitAt, compareKeys, firstDifference } from './bits.ts'
import type { TreeReader } from './prune.ts'
import { EMPTY_ROOT, HASH_BYTES, hashInner, hashLeaf, type Leaf, type Sha256 } from './tree-hash.ts'

/** A tree as of one commit; its nodes exist until it is released. */
export type Version = {
  readonly rootHash: Uint8Array
  /** For `prune` and `find`; null: without leaves. */
  readonly root: number | null
}

/** The caller's store of the leaves. */
export interface Leaves {
  /** The leaf of a number that was added, until it is freed. */
  leafAt(id: number): Leaf
  /** Its key alone, which a search needs more often. */
  keyAt(id: number): Uint8Array
  /** No version has the leaf any more. */
  onFreed?(id: number): void
}

export interface StateTree extends TreeReader<number> {
  /** Adds a leaf to the next version; false, without a change, if its key has a leaf. */
  add(id: number): boolean
  /** Removes the leaf of a key from the next version; false if the key has no leaf. */
  remove(key: Uint8Array): boolean
  /** Makes a version of all that was added and removed. */
  commit(): Version
  /** Forgets the oldest version, but for what younger ones share with it. */
  releaseOldest(): void
  /** The leaf of a key in a version, as `Version.root` names it. */
  find(root: number | null, key: Uint8Array): number | undefined
  /** The number of nodes that some version has. */
  nodeCount(): number
  /** The number of leaves that the next commit has. */
  leafCount(): number
}

/** Bytes that a node takes. */
export const NODE_BYTES = 14 + HASH_BYTES

const NONE = -1
/** The bit index of what is not an inner node. */
const IS_LEAF = 0xffff
const CAPACITY_MIN = 1024

export function createStateTree(
  leaves: Leaves,
  { sha256, toBase64 }: { readonly sha256: Sha256; toBase64(bytes: Uint8Array): string },
): StateTree {
  let capacity = CAPACITY_MIN
  /** The bit of an inner node; `IS_LEAF` for a leaf. */
  let bits = new Uint16Array(capacity)
  /** The left child of an inner node; the number of a leaf. */
  let lefts = new Int32Array(capacity)
  /** The right child of an inner node. */
  let rights = new Int32Array(capacity)
  /** The commit that made the node: in the same one it may still be changed. */
  let commits = new Uint32Array(capacity)
  let hashes = new Uint8Array(capacity * HASH_BYTES)
  let used = 0
  let leafCount = 0
  const free: number[] = []

  /** The number of the next commit. */
  let commitNumber = 1
  let root = NONE
  /** For each version but the oldest: the nodes of the one before that it does not have. */
  const retired: number[][] = []
  let retiring: number[] = []

  const grow = () => {
    // Grows by a quarter: doubling would leave up to half of the memory unused.
    capacity += capacity >> 2
    bits = copyInto(new Uint16Array(capacity), bits)
    lefts = copyInto(new Int32Array(capacity), lefts)
    rights = copyInto(new Int32Array(capacity), rights)
    commits = copyInto(new Uint32Array(capacity), commits)
    hashes = copyInto(new Uint8Array(capacity * HASH_BYTES), hashes)
  }

  const allocate = (bit: number, left: number, right: number): number => {
    if (free.length === 0 && used === capacity) grow()
    const node = free.pop() ?? used++
    bits[node] = bit
    lefts[node] = left
    rights[node] = right
    commits[node] = commitNumber
    return node
  }

  const release = (node: number) => {
    free.push(node)
    if (bits[node] === IS_LEAF) leaves.onFreed?.(at(lefts, node))
  }

  /** The node is not part of the next version. */
  const drop = (node: number) => {
    if (commits[node] === commitNumber) release(node)
    else retiring.push(node)
  }

  const childOf = (node: number, key: Uint8Array) =>
    at(bitAt(key, at(bits, node)) === 0 ? lefts : rights, node)

  /** The only leaf below the node that could have the key. */
  const nearestTo = (key: Uint8Array, from: number): number => {
    let node = from
    while (bits[node] !== IS_LEAF) node = childOf(node, key)
    return at(lefts, node)
  }

  /** An inner node that the next version may change: the node itself, or a copy for its place. */
  const ownOf = (node: number): number => {
    if (commits[node] === commitNumber) return node
    retiring.push(node)
    return allocate(at(bits, node), at(lefts, node), at(rights, node))
  }

  /** Puts a child in the place of the one on the way to the key; below `NONE` is the root. */
  const link = (parent: number, key: Uint8Array, child: number): void => {
    if (parent === NONE) root = child
    else if (bitAt(key, at(bits, parent)) === 0) lefts[parent] = child
    else rights[parent] = child
  }

  const hashOf = (node: number) => hashes.subarray(node * HASH_BYTES, (node + 1) * HASH_BYTES)

  /** Hashes the nodes that this commit made. Nodes of earlier commits are hashed already. */
  const rehash = (node: number): void => {
    if (commits[node] !== commitNumber) return
    const bit = at(bits, node)
    if (bit === IS_LEAF) {
      hashes.set(hashLeaf(leaves.leafAt(at(lefts, node)), sha256), node * HASH_BYTES)
      return
    }
    const [left, right] = [at(lefts, node), at(rights, node)]
    rehash(left)
    rehash(right)
    const hash = hashInner({ bit, left: hashOf(left), right: hashOf(right) }, sha256)
    hashes.set(hash, node * HASH_BYTES)
  }

  return {
    add(id) {
      const key = leaves.keyAt(id)
      if (root === NONE) {
        root = allocate(IS_LEAF, id, NONE)
        leafCount += 1
        return true
      }
      const nearest = leaves.keyAt(nearestTo(key, root))
      if (compareKeys(nearest, key) === 0) return false
      const bit = firstDifference(key, nearest)
      let parent = NONE
      let node = root
      while (at(bits, node) < bit) {
        const own = ownOf(node)
        if (own !== node) link(parent, key, own)
        parent = own
        node = childOf(own, key)
      }
      const leaf = allocate(IS_LEAF, id, NONE)
      const isLeft = bitAt(key, bit) === 0
      link(parent, key, isLeft ? allocate(bit, leaf, node) : allocate(bit, node, leaf))
      leafCount += 1
      return true
    },
    remove(key) {
      if (root === NONE || !isKeyOf(leaves, nearestTo(key, root), key)) return false
      let [parent, grandparent] = [NONE, NONE]
      let node = root
      while (bits[node] !== IS_LEAF) {
        if (parent !== NONE) {
          const own = ownOf(parent)
          if (own !== parent) link(grandparent, key, own)
          grandparent = own
        }
        parent = node
        node = childOf(node, key)
      }
      drop(node)
      if (parent === NONE) root = NONE
      else {
        const isLeft = bitAt(key, at(bits, parent)) === 0
        link(grandparent, key, at(isLeft ? rights : lefts, parent))
        drop(parent)
      }
      leafCount -= 1
      return true
    },
    commit() {
      if (root !== NONE) rehash(root)
      retired.push(retiring)
      retiring = []
      commitNumber += 1
      if (root === NONE) return { rootHash: EMPTY_ROOT, root: null }
      return { rootHash: hashOf(root).slice(), root }
    },
    releaseOldest() {
      retired.shift()
      for (const node of retired[0] ?? []) release(node)
      if (retired[0] !== undefined) retired[0] = []
    },
    find(version, key) {
      if (version === null) return undefined
      const id = nearestTo(key, version)
      return isKeyOf(leaves, id, key) ? id : undefined
    },
    nodeCount: () => used - free.length,
    leafCount: () => leafCount,
    open(node) {
      const bit = at(bits, node)
      if (bit === IS_LEAF) return leaves.leafAt(at(lefts, node))
      return { bit, left: at(lefts, node), right: at(rights, node) }
    },
    keyBelow: (node, wanted) => leaves.keyAt(nearestTo(wanted, node)),
    hash: (node) => toBase64(hashOf(node)),
  }
}

/** What stands there: nodes are numbers that the tree itself gave. */
function at(array: Int32Array | Uint16Array, index: number): number {
  return array[index] as number
}

function isKeyOf(leaves: Leaves, id: number, key: Uint8Array): boolean {
  return compareKeys(leaves.keyAt(id), key) === 0
}

function copyInto<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array>(to: T, from: T) {
  to.set(from)
  return to
}

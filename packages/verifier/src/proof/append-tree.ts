/**
 * An append-only Merkle tree with the shape and the hashes of RFC 9162: of n > 1 leaves, the left child of the root
 * has the largest power of two that is less than n. So appending a leaf changes no hash of a complete subtree.
 */
import type { Sha256 } from './tree-hash.ts'

/** The complete subtree over 2^`level` leaves, the first of which has the number `index` · 2^`level`. */
export type Subtree = { readonly level: number; readonly index: number }

/** The state that appending needs: the complete subtrees of a tree, from left to right and largest first. */
export type Frontier = { readonly size: number; readonly peaks: readonly Uint8Array[] }

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] }

/** Leaves from `first` on, before `end`, of a tree of `size`. */
export type Run = { readonly first: number; readonly end: number; readonly size: number }

/** SHA-256(00 ‖ data). */
export function hashAppended(data: Uint8Array, sha256: Sha256): Uint8Array {
  const bytes = new Uint8Array(1 + data.length)
  bytes.set(data, 1)
  return sha256(bytes)
}

/** SHA-256(01 ‖ left ‖ right). */
export function hashPair(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  const bytes = new Uint8Array(1 + left.length + right.length)
  bytes[0] = 1
  bytes.set(left, 1)
  bytes.set(right, 1 + left.length)
  return sha256(bytes)
}

/** @param onWhole - Receives each subtree that the leaf completes, itself first. */
export function append(
  { size, peaks }: Frontier,
  leafHash: Uint8Array,
  sha256: Sha256,
  onWhole?: (subtree: Subtree, hash: Uint8Array) => void,
): Frontier {
  const rest = [...peaks]
  let hash = leafHash
  let index = size
  for (let level = 0; ; level++) {
    onWhole?.({ level, index }, hash)
    if (index % 2 === 0) break
    hash = hashPair(rest.pop() as Uint8Array, hash, sha256) // An odd node has a left sibling.
    index = (index - 1) / 2
  }
  return { size: size + 1, peaks: [...rest, hash] }
}

/** The hash of adjacent subtrees, each larger than the next. Without subtrees it is the hash of the empty tree. */
export function joinSubtrees(hashes: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  if (hashes.length === 0) return sha256(new Uint8Array(0))
  return hashes.reduceRight((right, left) => hashPair(left, right, sha256))
}

/** The complete subtrees, largest first, that cover `count` leaves from `start`. */
export function subtreesOf(start: number, count: number): readonly Subtree[] {
  const subtrees: Subtree[] = []
  for (let first = start, left = count; left > 0; ) {
    let [level, width] = [0, 1]
    while (2 * width <= left) [level, width] = [level + 1, 2 * width]
    subtrees.push({ level, index: first / width })
    first += width
    left -= width
  }
  return subtrees
}

/**
 * Walks from the root to a run of leaves, from left to right, and returns what `make` makes of the root. Subtrees outside
 * the run are visited as large as possible.
 */
export function walkToRun<T>(
  { first, end, size }: Run,
  make: {
    leaf(index: number): T
    outside(start: number, count: number): T
    pair(left: T, right: T): T
  },
): T {
  const visit = (start: number, count: number): T => {
    if (start >= end || start + count <= first) return make.outside(start, count)
    if (count === 1) return make.leaf(start)
    let width = 1
    while (2 * width < count) width *= 2
    const left = visit(start, width)
    return make.pair(left, visit(start + width, count - width))
  }
  return visit(0, size)
}

/**
 * What a proof shows of a state tree: the leaves in a range, up to the one that fills it, and as little else as
 * proves that none of the range is left out. Who proves prunes the whole tree; who verifies prunes what was
 * shown and must get the same. So there is one definition of what a proof has to show, and one form of it.
 */
import { bitAt, compareKeys, positionOf } from './bits.ts'
import type { Leaf } from './tree-hash.ts'

/** The leaves asked for: those with keys in [from, to), up to the one that is the `limit`-th visible. */
export type KeyRange = {
  readonly from: Uint8Array
  readonly to: Uint8Array
  /** 1 or more. */
  readonly limit: number
}

export type Range = KeyRange & {
  /** Record time that is read at, in µs: what has expired by then is not visible (D-9). */
  readonly at: number
}

/** A tree as `prune` reads it; `N` is whatever the tree calls its nodes. */
export interface TreeReader<N> {
  open(node: N): Leaf | { readonly bit: number; readonly left: N; readonly right: N }
  /** The key of any leaf below the node, or of the node. */
  keyBelow(node: N): Uint8Array
  hash(node: N): Uint8Array
}

export type Pruned =
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  /** `isVisible`: asked for, and shown with its value. */
  | { readonly kind: 'leaf'; readonly leaf: Leaf; readonly isVisible: boolean }
  | { readonly kind: 'inner'; readonly bit: number; readonly left: Pruned; readonly right: Pruned }

/** The tree below `root`, pruned to what proves the range. */
export function prune<N>(tree: TreeReader<N>, root: N, range: Range): Pruned {
  const { from, limit, at } = range
  // Behind the last leaf that was asked for, nothing is claimed.
  let end = range.to
  let visibleCount = 0

  const cut = (node: N): Pruned => ({ kind: 'hash', hash: tree.hash(node) })

  const isOutside = (key: Uint8Array, bit: number, side: 0 | 1) =>
    positionOf({ key, bit, side }, from) === 'before' ||
    positionOf({ key, bit, side }, end) === 'from'

  const visit = (node: N): Pruned => {
    const opened = tree.open(node)
    if ('key' in opened) return visitLeaf(opened)
    const { bit, left, right } = opened
    const key = tree.keyBelow(node)
    const isLeftOutside = isOutside(key, bit, 0)
    if (isLeftOutside && isOutside(key, bit, 1)) return showGap(node)
    const shownLeft = isLeftOutside ? cut(left) : visit(left)
    const shownRight = isOutside(key, bit, 1) ? cut(right) : visit(right)
    return { kind: 'inner', bit, left: shownLeft, right: shownRight }
  }

  const visitLeaf = (leaf: Leaf): Pruned => {
    const isVisible =
      compareKeys(leaf.key, from) >= 0 &&
      compareKeys(leaf.key, end) < 0 &&
      (leaf.expiresAt === null || leaf.expiresAt > at)
    if (isVisible) {
      visibleCount += 1
      if (visibleCount === limit) end = leaf.key
    }
    return { kind: 'leaf', leaf, isVisible }
  }

  /** Nothing below is asked for, which only a leaf can show: the one at which the search for `from` ends. */
  const showGap = (node: N): Pruned => {
    const opened = tree.open(node)
    if ('key' in opened) return { kind: 'leaf', leaf: opened, isVisible: false }
    const { bit, left, right } = opened
    return bitAt(from, bit) === 0
      ? { kind: 'inner', bit, left: showGap(left), right: cut(right) }
      : { kind: 'inner', bit, left: cut(left), right: showGap(right) }
  }

  return visit(root)
}

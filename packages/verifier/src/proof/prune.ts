/**
 * The leaves in a range up to the limit, and the least of the tree that proves that no leaf is missing. The prover
 * prunes the whole tree. The verifier prunes the tree of the proof, and must get the same. So a proof has one
 * definition and one form.
 */
import { bitAt, compareKeys, firstDifference, positionOf } from './bits.ts'
import type { Leaf } from './tree-hash.ts'

/** The requested leaves: those with keys in [from, to), up to the `limit`-th visible one. */
export type KeyRange = {
  readonly from: Uint8Array
  readonly to: Uint8Array
  /** 1 or more. */
  readonly limit: number
}

export type Range = KeyRange & {
  /** Record time of the read, in µs. Leaves that have expired by then are not visible (D-9). */
  readonly at: number
}

/** A tree as `prune` reads it; `N` is its type of nodes. */
export interface TreeReader<N> {
  open(node: N): Leaf | { readonly bit: number; readonly left: N; readonly right: N }
  /** The key of any leaf below the node, or of the node; preferably the one where a search for `wanted` ends. */
  keyBelow(node: N, wanted: Uint8Array): Uint8Array
  /** Base64. */
  hash(node: N): string
}

export type Pruned =
  /** Base64, as in the proof. */
  | { readonly kind: 'hash'; readonly hash: string }
  /** `isVisible`: requested, and shown with its value. */
  | { readonly kind: 'leaf'; readonly leaf: Leaf; readonly isVisible: boolean }
  | { readonly kind: 'inner'; readonly bit: number; readonly left: Pruned; readonly right: Pruned }

/** Position of keys relative to the range. */
type RangePosition = 'inside' | 'outside' | 'both'

/** A key below a node, and the first bits at which it parts from both ends of the range. */
type KeyBelow = { readonly key: Uint8Array; readonly from: number; readonly to: number }

/** The tree below `root`, pruned to what proves the range. */
export function prune<N>(tree: TreeReader<N>, root: N, range: Range): Pruned {
  const { from, to, limit, at } = range
  let visibleCount = 0

  const cut = (node: N): Pruned => ({ kind: 'hash', hash: tree.hash(node) })

  const findBelow = (node: N): KeyBelow => {
    const key = tree.keyBelow(node, from)
    return { key, from: firstDifference(key, from), to: firstDifference(key, to) }
  }

  /** Where the keys on one side of a node lie, as far as the bits up to the bit of the node show. */
  const placeOf = ({ key, ...differsAt }: KeyBelow, bit: number, side: 0 | 1): RangePosition => {
    const ofFrom = positionOf({ key, bit, side, differsAt: differsAt.from }, from)
    const ofTo = positionOf({ key, bit, side, differsAt: differsAt.to }, to)
    if (ofFrom === 'before' || ofTo === 'from') return 'outside'
    return ofFrom === 'from' && ofTo === 'before' ? 'inside' : 'both'
  }

  /** @param known - A key below the node; null: it is not known yet. */
  const visit = (node: N, place: RangePosition, known: KeyBelow | null): Pruned => {
    const opened = tree.open(node)
    if ('key' in opened) return visitLeaf(opened)
    const { bit, left, right } = opened
    const below = place === 'inside' ? null : (known ?? findBelow(node))
    const ofLeft = below === null ? place : placeOf(below, bit, 0)
    const ofRight = below === null ? place : placeOf(below, bit, 1)
    if (ofLeft === 'outside' && ofRight === 'outside') return showGap(node)
    const visitSide = (child: N, side: 0 | 1, ofSide: RangePosition): Pruned => {
      // The proof claims nothing about what comes after the last requested leaf.
      if (ofSide === 'outside' || visibleCount === limit) return cut(child)
      const isBelow = below !== null && bitAt(below.key, bit) === side
      return visit(child, ofSide, isBelow ? below : null)
    }
    return {
      kind: 'inner',
      bit,
      left: visitSide(left, 0, ofLeft),
      right: visitSide(right, 1, ofRight),
    }
  }

  const visitLeaf = (leaf: Leaf): Pruned => {
    const isVisible =
      compareKeys(leaf.key, from) >= 0 &&
      compareKeys(leaf.key, to) < 0 &&
      (leaf.expiresAt === null || leaf.expiresAt > at)
    if (isVisible) visibleCount += 1
    return { kind: 'leaf', leaf, isVisible }
  }

  /** No requested leaf is below: the leaf where the search for `from` ends proves it. */
  const showGap = (node: N): Pruned => {
    const opened = tree.open(node)
    if ('key' in opened) return { kind: 'leaf', leaf: opened, isVisible: false }
    const { bit, left, right } = opened
    return bitAt(from, bit) === 0
      ? { kind: 'inner', bit, left: showGap(left), right: cut(right) }
      : { kind: 'inner', bit, left: cut(left), right: showGap(right) }
  }

  return visit(root, 'both', null)
}

/** The state tree by its definition, built from a sorted list. The packed tree must equal it. */
import { createHash } from 'node:crypto'
import { toBase64 } from '../../encoding/base64.ts'
import { bitAt, compareKeys, firstDifference } from '../bits.ts'
import type { Range, TreeReader } from '../prune.ts'
import type { ProvenLeaf } from '../range-proof.ts'
import { componentsOf, EMPTY_ROOT, hashInner, hashLeaf, keyOf, type Leaf } from '../tree-hash.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** A leaf with the value that it holds the hash of. */
export type ValuedLeaf = Leaf & { readonly value: string }

export function leafOf(
  components: readonly string[],
  value: string,
  expiresAt: number | null = null,
): ValuedLeaf {
  return { key: keyOf(components), expiresAt, value, valueHash: sha256(Buffer.from(value)) }
}

export type NaiveNode =
  | { readonly leaf: ValuedLeaf; readonly hash: Uint8Array }
  | { bit: number; left: NaiveNode; right: NaiveNode; hash: Uint8Array }

export function buildNaiveTree(leaves: readonly ValuedLeaf[]): NaiveNode | null {
  const sorted = leaves.toSorted((a, b) => compareKeys(a.key, b.key))
  const build = (from: number, to: number): NaiveNode => {
    const [first, last] = [sorted[from] as ValuedLeaf, sorted[to - 1] as ValuedLeaf]
    if (first === last) return { leaf: first, hash: hashLeaf(first, sha256) }
    const bit = firstDifference(first.key, last.key)
    let middle = from
    while (bitAt((sorted[middle] as ValuedLeaf).key, bit) === 0) middle += 1
    const [left, right] = [build(from, middle), build(middle, to)]
    const hash = hashInner({ bit, left: left.hash, right: right.hash }, sha256)
    return { bit, left, right, hash }
  }
  return sorted.length === 0 ? null : build(0, sorted.length)
}

export const naiveRootHash = (leaves: readonly ValuedLeaf[]) =>
  buildNaiveTree(leaves)?.hash ?? EMPTY_ROOT

export const naiveReader: TreeReader<NaiveNode> = {
  open: (node) => ('leaf' in node ? node.leaf : node),
  keyBelow: (node, wanted) =>
    'leaf' in node ? node.leaf.key : naiveReader.keyBelow(node.left, wanted),
  hash: ({ hash }) => toBase64(hash),
}

/** What a range holds, by looking at each leaf. */
export function leavesIn(leaves: readonly ValuedLeaf[], range: Range): readonly ProvenLeaf[] {
  return leaves
    .filter(({ key }) => compareKeys(key, range.from) >= 0 && compareKeys(key, range.to) < 0)
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > range.at)
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .slice(0, range.limit)
    .map(({ key, expiresAt, value }) => ({ key: componentsOf(key), expiresAt, value }))
}

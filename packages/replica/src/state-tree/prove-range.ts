/** Proofs of what lies in a range of a kept state, with values that were held against their leaves. */
import { bytesEqual, fromUtf8, sha256 } from '@quorumscan/base'
import {
  componentsOf,
  encodeProof,
  type KeyRange,
  type Leaf,
  type ProvenRange,
  type Pruned,
  provenLeaves,
  prune,
  type TreeReader,
  visibleLeaves,
} from '@quorumscan/consensus/state-tree'
import { ScanError } from '@quorumscan/errors'
import type { Micros } from '@quorumscan/model'
import { decodeVersions } from '../storage/versions.ts'
import type { StoredLeaf } from './leaf-store.ts'
import type { KeptState, StateKeeper } from './state-keeper.ts'

/** Expired leaves on the way of a range: each is shown, 200 bytes of the answer. */
export const EXPIRED_LEAVES_MAX = 10_000

/** What the tree says of a range, before the values are read. */
export type PrunedRange = {
  readonly pruned: Pruned | null
  /** Names whose versions hold the values that are shown. */
  readonly names: readonly string[]
}

/** @throws {ScanError} OVERLOADED where more than `EXPIRED_LEAVES_MAX` have expired. */
export function pruneRange(keeper: StateKeeper, kept: KeptState, range: KeyRange): PrunedRange {
  if (kept.root === null) return { pruned: null, names: [] }
  const at = kept.point.recordTime
  const pruned = prune(countingExpired(keeper.tree, at), kept.root, { ...range, at })
  const names = new Set<string>()
  for (const leaf of visibleLeaves(pruned) as readonly StoredLeaf[])
    if (leaf.value === undefined) names.add(nameOf(leaf))
  return { pruned, names: [...names] }
}

/**
 * What the range holds, and where a value does not belong to its leaf, the name.
 *
 * @param versions - Stored versions of each of `names`.
 */
export function showRange(
  { pruned }: PrunedRange,
  versions: ReadonlyMap<string, Uint8Array | null | undefined>,
): ProvenRange | { readonly differs: string } {
  const values = new Map<Leaf, string>()
  const leaves = visibleLeaves(pruned) as readonly StoredLeaf[]
  for (const leaf of leaves)
    if (leaf.value !== undefined) values.set(leaf, leaf.value)
    else {
      const body = bodyOf(leaf, versions.get(nameOf(leaf)))
      if (body === undefined) return { differs: nameOf(leaf) }
      values.set(leaf, fromUtf8(body))
    }
  const readValue = (leaf: Leaf) => values.get(leaf) as string // Asked for what is visible.
  return { proof: encodeProof(pruned, readValue), leaves: provenLeaves(leaves, readValue) }
}

/** The stored body that has the hash of the leaf. */
export function bodyOf(
  leaf: Leaf,
  versions: Uint8Array | null | undefined,
): Uint8Array | undefined {
  try {
    return decodeVersions(versions ?? new Uint8Array(0)).find(({ body }) =>
      bytesEqual(sha256(body), leaf.valueHash),
    )?.body
  } catch {
    // Changed by hand into what no version is: it has no body of any hash.
    return undefined
  }
}

/** The name of an entry's leaf. */
function nameOf(leaf: Leaf): string {
  const [kind, ...rest] = componentsOf(leaf.key)
  return (kind === 'n' ? rest[0] : rest[1]) ?? ''
}

function countingExpired(tree: StateKeeper['tree'], at: Micros): TreeReader<number> {
  let expired = 0
  return {
    open(node) {
      const opened = tree.open(node)
      if (!('key' in opened) || opened.expiresAt === null || opened.expiresAt > at) return opened
      expired += 1
      if (expired > EXPIRED_LEAVES_MAX)
        throw new ScanError(
          'OVERLOADED',
          'Too many names of this range have expired; ask for a narrower range.',
        )
      return opened
    },
    keyBelow: tree.keyBelow,
    hash: tree.hash,
  }
}

/** Proves a range of a recent state. Each value is compared with its leaf. */
import { bytesEqual, fromUtf8, sha256, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Micros } from '@quorumscan/model'
import {
  componentsOf,
  encodeProof,
  type KeyRange,
  type Leaf,
  type ProvenRange,
  provenLeaves,
  prune,
  type TreeReader,
  visibleLeaves,
} from '@quorumscan/verifier/state-tree'
import type { NameReader } from '../reads/name-reader.ts'
import { readVersions } from '../reads/reads.ts'
import { decodeVersions } from '../storage/versions.ts'
import type { StoredLeaf } from './leaf-store.ts'
import type { RecentState, StateHistory } from './state-history.ts'
import { differs, type StateTreeUpdater, stateDiverged } from './tree-updater.ts'

/** Expired leaves in a range. Each takes 200 bytes of the answer. */
export const EXPIRED_LEAVES_MAX = 10_000

/** Leaves whose values are read at a stretch, then other reads are served: 2 ms. */
const STRETCH_LEAVES = 64

/**
 * The tree's part for a range, before the values are read.
 *
 * @throws {ScanError} OVERLOADED where more than `EXPIRED_LEAVES_MAX` have expired.
 */
export function pruneRange(history: StateHistory, recent: RecentState, range: KeyRange) {
  if (recent.root === null) return { pruned: null, leaves: [] }
  const at = recent.point.recordTime
  const pruned = prune(countingExpired(history.tree, at), recent.root, { ...range, at })
  const leaves: readonly StoredLeaf[] = visibleLeaves(pruned)
  return { pruned, leaves }
}

/**
 * The leaves of the range with their values, and the proof of them.
 *
 * @throws {ScanError} As `pruneRange` and all reads; STATE_DIVERGED if a stored value does not belong to its leaf.
 */
export async function proveRange(
  context: { readonly nameReader: NameReader; readonly treeUpdater: StateTreeUpdater },
  { history, recent }: { readonly history: StateHistory; readonly recent: RecentState },
  range: KeyRange,
): Promise<ProvenRange> {
  const { nameReader, treeUpdater } = context
  const { pruned, leaves } = pruneRange(history, recent, range)
  const how = leaves.length === 1 ? 'fetch' : 'fetchOfPage'
  const values = new Map<Leaf, string>()
  for (const leaf of leaves) if (leaf.value !== undefined) values.set(leaf, leaf.value)
  const unread = leaves.filter((leaf) => leaf.value === undefined)
  for (let first = 0; first < unread.length; first += STRETCH_LEAVES) {
    const stretch = unread.slice(first, first + STRETCH_LEAVES)
    const versions = await readVersions(nameReader, stretch.map(nameOf), recent.point, how)
    for (const [index, leaf] of stretch.entries()) {
      const body = bodyOf(leaf, versions[index])
      if (body === undefined) {
        const divergence = { offset: recent.point.offset, what: differs(nameOf(leaf)) }
        treeUpdater.diverge(divergence)
        throw stateDiverged(divergence)
      }
      values.set(leaf, fromUtf8(body))
    }
  }
  const readValue = (leaf: Leaf) => values.get(leaf) as string // Asked for what is visible.
  const proof = utf8(encodeProof(pruned, readValue))
  return { proof, leaves: provenLeaves(leaves, readValue) }
}

/** The stored body that has the hash of the leaf. */
function bodyOf(leaf: Leaf, versions: Uint8Array | null | undefined) {
  try {
    return decodeVersions(versions).find(({ body }) => bytesEqual(sha256(body), leaf.valueHash))
      ?.body
  } catch {
    // Malformed bytes, changed by hand: they have no body with any hash.
    return undefined
  }
}

/** The name of an entry's leaf. */
function nameOf(leaf: Leaf): string {
  const [kind, ...rest] = componentsOf(leaf.key)
  return (kind === 'n' ? rest[0] : rest[1]) ?? ''
}

function countingExpired(tree: StateHistory['tree'], at: Micros): TreeReader<number> {
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

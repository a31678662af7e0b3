/**
 * Range proofs on the wire, and their verification: which leaves of a state tree with a known root lie in a
 * range, in order, and that these are all.
 *
 * A proof is the pruned tree, depth first, as one flat list: a number is an inner node, by the bit at which its
 * keys part, and is followed by its left and its right subtree; a text is the hash of a subtree that is not
 * shown (base64); an object is a leaf, with its value if it was asked for and is visible, else with the value's
 * hash. The list of the empty tree is empty.
 */
import { bytesEqual, utf8 } from '../encoding/bytes.ts'
import { type Pruned, prune, type Range, type TreeReader } from './prune.ts'
import {
  componentsOf,
  DEPTH_MAX,
  EMPTY_ROOT,
  HASH_BYTES,
  hashInner,
  hashLeaf,
  keyOf,
  type Leaf,
  type Sha256,
} from './tree-hash.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export type ProofItem = number | string | ShownLeaf

export type ShownLeaf = {
  /** The components of the key. */
  readonly key: readonly string[]
  /** In µs; null: never. */
  readonly expires_at: number | null
} & ({ readonly value: string } | { readonly value_hash: string })

export type ProvenLeaf = {
  readonly key: readonly string[]
  readonly expiresAt: number | null
  readonly value: string
}

/** The document proves nothing about the request: it is malformed, of another tree, or leaves something out. */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof'
}

/** The list that shows a pruned tree; `readValue` gives the text whose hash a visible leaf holds. */
export function encodeProof(
  pruned: Pruned | null,
  readValue: (leaf: Leaf) => string,
): readonly ProofItem[] {
  const items: ProofItem[] = []
  const write = (node: Pruned): void => {
    if (node.kind === 'hash') items.push(toBase64(node.hash))
    else if (node.kind === 'inner') {
      items.push(node.bit)
      write(node.left)
      write(node.right)
    } else {
      const { leaf, isVisible } = node
      const head = { key: componentsOf(leaf.key), expires_at: leaf.expiresAt }
      items.push(
        isVisible
          ? { ...head, value: readValue(leaf) }
          : { ...head, value_hash: toBase64(leaf.valueHash) },
      )
    }
  }
  if (pruned !== null) write(pruned)
  return items
}

/**
 * The visible leaves of the range, in order: all of them, or the first `range.limit` where there are as many.
 *
 * @param input.proof - What was received, as parsed JSON.
 * @param input.root - From a certificate, never from who proves.
 * @param input.range - From the request that the caller made, never from who proves.
 * @throws {InvalidProof} Unless `proof` is exactly what shows them.
 */
export function verifyRange(input: {
  readonly proof: unknown
  readonly root: Uint8Array
  readonly range: Range
  readonly sha256: Sha256
}): readonly ProvenLeaf[] {
  const { proof, root, range, sha256 } = input
  if (!Array.isArray(proof)) throw new InvalidProof('a proof is a list')
  if (proof.length === 0) {
    if (!bytesEqual(root, EMPTY_ROOT)) throw new InvalidProof('the tree is not empty')
    return []
  }
  const values = new Map<Leaf, string>()
  const shown = decodeProof(proof, { sha256, values })
  if (!bytesEqual(shown.hash, root)) throw new InvalidProof('the proof is of another tree')
  // What was shown is pruned as the whole tree is: it must suffice, and nothing of it may be left over.
  const leaves: ProvenLeaf[] = []
  const needed = encodeProof(prune(shownTree, shown, range), (leaf) => {
    const value = values.get(leaf)
    if (value === undefined) throw new InvalidProof('a leaf that was asked for has no value')
    leaves.push({ key: componentsOf(leaf.key), expiresAt: leaf.expiresAt, value })
    return value
  })
  if (JSON.stringify(needed) !== JSON.stringify(proof))
    throw new InvalidProof('the proof shows more than it has to, or in another form')
  return leaves
}

/** A node that was shown, or of which the hash was. */
type ShownNode = {
  readonly hash: Uint8Array
  /** Of a leaf below; null where only the hash is known. */
  readonly key: Uint8Array | null
  readonly opened: Leaf | { bit: number; left: ShownNode; right: ShownNode } | null
}

const shownTree: TreeReader<ShownNode> = {
  open({ opened }) {
    if (opened === null) throw new InvalidProof('the proof leaves out a part of what was asked for')
    return opened
  },
  keyBelow({ key }) {
    if (key === null) throw new InvalidProof('the proof shows a branch without a leaf')
    return key
  },
  hash: ({ hash }) => hash,
}

/** The tree that a list shows; the values of its leaves go into `values`. */
function decodeProof(
  items: readonly unknown[],
  { sha256, values }: { readonly sha256: Sha256; readonly values: Map<Leaf, string> },
): ShownNode {
  let position = 0
  const read = (bitMin: number): ShownNode => {
    const item = items[position++]
    if (typeof item === 'string') return { hash: fromBase64(item), key: null, opened: null }
    if (typeof item === 'number') {
      // Bits grow downwards, so a list cannot be deeper than a key is long.
      if (!Number.isInteger(item) || item < bitMin || item >= DEPTH_MAX)
        throw new InvalidProof('a branch is not at a bit behind the one above')
      const left = read(item + 1)
      const right = read(item + 1)
      const hash = hashInner({ bit: item, left: left.hash, right: right.hash }, sha256)
      return { hash, key: left.key ?? right.key, opened: { bit: item, left, right } }
    }
    const { leaf, value } = decodeLeaf(item, sha256)
    if (value !== null) values.set(leaf, value)
    return { hash: hashLeaf(leaf, sha256), key: leaf.key, opened: leaf }
  }
  const root = read(0)
  if (position !== items.length) throw new InvalidProof('the list goes on behind the tree')
  return root
}

function decodeLeaf(item: unknown, sha256: Sha256): { leaf: Leaf; value: string | null } {
  if (typeof item !== 'object' || item === null) throw new InvalidProof('the list ends too early')
  const { key, expires_at, value, value_hash } = item as Record<string, unknown>
  if (!Array.isArray(key) || !key.every((component) => typeof component === 'string'))
    throw new InvalidProof('the key of a leaf is a list of texts')
  if (expires_at !== null && !isMicros(expires_at))
    throw new InvalidProof('a leaf expires at a whole number of microseconds, or never')
  const isShown = typeof value === 'string'
  // Else two texts would have one hash.
  if (isShown && !isWellFormed(value)) throw new InvalidProof('a value is no well-formed text')
  if (!isShown && typeof value_hash !== 'string')
    throw new InvalidProof('a leaf has a value or the hash of one')
  const valueHash = isShown ? sha256(utf8(value)) : fromBase64(value_hash as string)
  return {
    leaf: { key: parseKey(key), expiresAt: expires_at, valueHash },
    value: isShown ? value : null,
  }
}

function isWellFormed(text: string): boolean {
  return decoder.decode(utf8(text)) === text
}

function isMicros(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parseKey(components: readonly string[]): Uint8Array {
  try {
    return keyOf(components)
  } catch (cause) {
    throw new InvalidProof('a leaf has a key that no tree has', { cause })
  }
}

function toBase64(hash: Uint8Array): string {
  return btoa(String.fromCharCode(...hash))
}

function fromBase64(text: string): Uint8Array {
  try {
    const hash = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    if (hash.length === HASH_BYTES) return hash
  } catch {
    // Not base64: refused as what has another length.
  }
  throw new InvalidProof('a hash is 32 bytes in base64')
}

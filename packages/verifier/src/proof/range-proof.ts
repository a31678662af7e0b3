/**
 * Range proofs on the wire, and their verification: which leaves of a state tree with a known root lie in
 * ranges, in order, and that these are all.
 *
 * The proof of a range is the pruned tree, depth first, as one flat list: a number is an inner node, by the bit
 * at which its keys part, and is followed by its left and its right subtree; a text is the hash of a subtree that
 * is not shown (base64); an object is a leaf, with its value if it was asked for and is visible, else with the
 * value's hash. The proof of several ranges is one list, too: theirs one after the other. It is RFC 8785 JSON,
 * and there is one text only that proves what it proves. Of the empty tree it is the empty list.
 */

import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { bytesEqual, utf8 } from '../encoding/bytes.ts'
import { LONE_SURROGATE } from '../encoding/lone-surrogate.ts'
import { membersOf } from '../encoding/members-of.ts'
import { InvalidProof } from './invalid-proof.ts'
import { type KeyRange, type Pruned, prune, type TreeReader } from './prune.ts'
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

export type ProofItem = number | string | ShownLeaf

export type ShownLeaf = {
  /** In µs; null: never. */
  readonly expires_at: number | null
  /** The components of the key. */
  readonly key: readonly string[]
} & ({ readonly value: string } | { readonly value_hash: string })

/** A leaf with its value, as an answer is made of. */
export type ProvenLeaf = {
  readonly key: readonly string[]
  readonly expiresAt: number | null
  readonly value: string
}

/** What a tree has in a range. */
export type ProvenRange = {
  /** What `encodeProof` gives, in UTF-8. */
  readonly proof: Uint8Array
  readonly leaves: readonly ProvenLeaf[]
}

/** The items that show a pruned tree, with commas between; `readValue` gives the text whose hash a visible leaf holds. */
export function encodeProof(pruned: Pruned | null, readValue: (leaf: Leaf) => string): string {
  const items: string[] = []
  const write = (node: Pruned): void => {
    if (node.kind === 'hash') items.push(`"${node.hash}"`)
    else if (node.kind === 'inner') {
      items.push(`${node.bit}`)
      write(node.left)
      write(node.right)
    } else {
      const { leaf, isVisible } = node
      const head = { expires_at: leaf.expiresAt, key: componentsOf(leaf.key) }
      items.push(
        JSON.stringify(
          isVisible
            ? { ...head, value: readValue(leaf) }
            : { ...head, value_hash: toBase64(leaf.valueHash) },
        ),
      )
    }
  }
  if (pruned !== null) write(pruned)
  return items.join()
}

/** The proof of several ranges: theirs, as `encodeProof` gives them, one after the other. */
export function joinProofs(proofs: readonly string[]): string {
  // The proof of an empty tree is empty.
  return `[${proofs.filter((proof) => proof !== '').join()}]`
}

type RangesInput = {
  readonly proof: string
  readonly root: Uint8Array
  readonly at: number
  readonly ranges: readonly KeyRange[]
  readonly sha256: Sha256
}

/**
 * For each range its visible leaves, in order: all of them, or the first `limit` where there are as many.
 *
 * @param input.proof - The text that was received.
 * @param input.root - From a certificate, never from the prover.
 * @param input.at - Record time that is read at, from the same certificate.
 * @param input.ranges - From the request that the caller made, never from the prover.
 * @throws {InvalidProof} Unless `proof` is exactly what shows them.
 */
export function verifyRanges(input: RangesInput): readonly (readonly ProvenLeaf[])[] {
  const { proof, root, at, ranges, sha256 } = input
  const items = parseList(proof)
  const isEmpty = bytesEqual(root, EMPTY_ROOT)
  const values = new Map<Leaf, string>()
  const trees = readTrees(items, { root, sha256, values })
  // Pruning the tree of the proof must succeed, and leave nothing over.
  const needed = ranges.map((range) => {
    if (isEmpty) return null
    const { value: tree } = trees.next()
    if (tree === undefined) throw malformed('list')
    return prune(shownTree, tree, { ...range, at })
  })
  const readValue = (leaf: Leaf): string => {
    const value = values.get(leaf)
    if (value === undefined) throw incomplete()
    return value
  }
  if (joinProofs(needed.map((pruned) => encodeProof(pruned, readValue))) !== proof)
    throw notCanonical()
  return needed.map((pruned) => provenLeaves(visibleLeaves(pruned), readValue))
}

/** Leaves with their values, as the reader of a proof receives them. */
export function provenLeaves(leaves: readonly Leaf[], readValue: (leaf: Leaf) => string) {
  return leaves.map((leaf) => ({
    key: componentsOf(leaf.key),
    expiresAt: leaf.expiresAt,
    value: readValue(leaf),
  }))
}

/**
 * The leaves that a proof shows with their values, in its order, whatever was asked for: each is in the tree and
 * visible. It does not show which other leaves exist.
 *
 * @throws {InvalidProof} If it is not a list of trees with this root, each in its one form.
 */
export function shownLeaves(input: Omit<RangesInput, 'ranges'>): readonly ProvenLeaf[] {
  const { proof, root, at, sha256 } = input
  const items = parseList(proof)
  const values = new Map<Leaf, string>()
  const shownValue = (leaf: Leaf) => values.get(leaf) as string // Asked for those alone that have one.
  const encoded: string[] = []
  const leaves: Leaf[] = []
  for (const shown of readTrees(items, { root, sha256, values })) {
    const tree = wholeOf(shown, values)
    encoded.push(encodeProof(tree, shownValue))
    leaves.push(...visibleLeaves(tree))
  }
  if (joinProofs(encoded) !== proof) throw notCanonical()
  if (!leaves.every((leaf) => leaf.expiresAt === null || leaf.expiresAt > at))
    throw new InvalidProof('NOT_PROVEN', 'the proof shows the value of an expired leaf')
  return provenLeaves(leaves, shownValue)
}

function wholeOf(node: ShownNode, values: ReadonlyMap<Leaf, string>): Pruned {
  const { opened } = node
  if (opened === null) return { kind: 'hash', hash: shownTree.hash(node) }
  if ('key' in opened) return { kind: 'leaf', leaf: opened, isVisible: values.has(opened) }
  const { bit, left, right } = opened
  return { kind: 'inner', bit, left: wholeOf(left, values), right: wholeOf(right, values) }
}

/** The leaves that a pruned tree shows with their values, in order. */
export function visibleLeaves(pruned: Pruned | null): readonly Leaf[] {
  if (pruned?.kind === 'inner')
    return [...visibleLeaves(pruned.left), ...visibleLeaves(pruned.right)]
  return pruned?.kind === 'leaf' && pruned.isVisible ? [pruned.leaf] : []
}

function parseList(proof: string): readonly unknown[] {
  let list: unknown
  try {
    list = JSON.parse(proof)
  } catch (cause) {
    throw malformed('list', cause)
  }
  if (Array.isArray(list)) return list
  throw malformed('list')
}

/** @param what - The part of the proof that breaks a rule of its form. */
export function malformed(what: string, cause?: unknown): InvalidProof {
  return new InvalidProof('MALFORMED', `the proof is malformed: ${what}`, { cause })
}

function otherTree(): InvalidProof {
  return new InvalidProof('NOT_PROVEN', 'the proof is of another tree')
}

function incomplete(): InvalidProof {
  return new InvalidProof('NOT_PROVEN', 'the proof is incomplete')
}

/** It shows more than is needed, or shows it in another form. */
function notCanonical(): InvalidProof {
  return new InvalidProof('NOT_PROVEN', 'the proof is not canonical')
}

/** A node that was shown, or of which the hash was. */
type ShownNode = {
  readonly hash: Uint8Array
  /** The text of the hash in the proof; null: the proof has the node itself. */
  readonly text: string | null
  /** The key of a leaf below; null: only the hash is known. */
  readonly key: Uint8Array | null
  readonly opened: Leaf | { bit: number; left: ShownNode; right: ShownNode } | null
}

const shownTree: TreeReader<ShownNode> = {
  open({ opened }) {
    if (opened === null) throw incomplete()
    return opened
  },
  keyBelow({ key }) {
    if (key === null) throw incomplete()
    return key
  },
  hash({ text }) {
    if (text === null) throw notCanonical()
    return text
  },
}

/** Reads one tree after the other of a list, each of which must have the root; values of leaves go into `values`. */
function* readTrees(
  items: readonly unknown[],
  known: {
    readonly root: Uint8Array
    readonly sha256: Sha256
    readonly values: Map<Leaf, string>
  },
): Generator<ShownNode, undefined> {
  const { root, sha256, values } = known
  let position = 0
  const read = (bitMin: number): ShownNode => {
    const item = items[position++]
    if (typeof item === 'string')
      return { hash: parseHash(item), text: item, key: null, opened: null }
    if (typeof item === 'number') {
      // Bits grow downwards, so a list cannot be deeper than a key is long.
      if (!Number.isInteger(item) || item < bitMin || item >= DEPTH_MAX) throw malformed('bit')
      const left = read(item + 1)
      const right = read(item + 1)
      const hash = hashInner({ bit: item, left: left.hash, right: right.hash }, sha256)
      return { hash, text: null, key: left.key ?? right.key, opened: { bit: item, left, right } }
    }
    const { leaf, value } = decodeLeaf(item, sha256)
    if (value !== null) values.set(leaf, value)
    return { hash: hashLeaf(leaf, sha256), text: null, key: leaf.key, opened: leaf }
  }
  while (position < items.length) {
    const shown = read(0)
    if (!bytesEqual(shown.hash, root)) throw otherTree()
    yield shown
  }
}

function decodeLeaf(item: unknown, sha256: Sha256): { leaf: Leaf; value: string | null } {
  // What is not an object, as where the list ends too early, has no key.
  const { key, expires_at, value, value_hash } = membersOf(item) as Record<string, unknown>
  if (!Array.isArray(key) || !key.every((component) => typeof component === 'string'))
    throw malformed('leaf')
  if (expires_at !== null && !isNatural(expires_at)) throw malformed('expiry')
  const isShown = typeof value === 'string'
  // Else two texts would have one hash.
  if (isShown && LONE_SURROGATE.test(value)) throw malformed('leaf')
  const valueHash = isShown ? sha256(utf8(value)) : parseHash(value_hash)
  return {
    leaf: { key: parseKey(key), expiresAt: expires_at, valueHash },
    value: isShown ? value : null,
  }
}

/** A whole number that stays exact, not negative. */
export function isNatural(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parseKey(components: readonly string[]): Uint8Array {
  try {
    return keyOf(components)
  } catch (cause) {
    throw malformed('key', cause)
  }
}

/** @throws {InvalidProof} Unless it is the canonical base64 of 32 bytes. */
export function parseHash(text: unknown): Uint8Array {
  const hash = typeof text === 'string' ? fromBase64(text) : undefined
  // Other texts may have the same bytes.
  if (hash?.length === HASH_BYTES && toBase64(hash) === text) return hash
  throw malformed('hash')
}

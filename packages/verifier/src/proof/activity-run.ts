/**
 * Runs of rows of the activity history on the wire, and their verification: the rows follow each other in the activity
 * tree, between the neighbors that are shown or the ends of the tree.
 */

import { toBase64 } from '../encoding/base64.ts'
import { bytesEqual, concatBytes, fromHex, u64, utf8 } from '../encoding/bytes.ts'
import { LONE_SURROGATE } from '../encoding/lone-surrogate.ts'
import { membersOf } from '../encoding/members-of.ts'
import { hashAppended, hashPair, joinSubtrees, walkToRun } from './append-tree.ts'
import { InvalidProof } from './invalid-proof.ts'
import { isNatural, malformed, parseHash } from './range-proof.ts'
import { EMPTY_ROOT, type Sha256 } from './tree-hash.ts'

/** The leaf of the state that describes the activity tree. */
export type ActivityTree = {
  readonly size: number
  /** Hex. */
  readonly root: string
}

/** A row's place in the history, and its JSON or the SHA-256 of that (base64). */
export type ShownRow = {
  readonly event_id: string
  /** In µs. */
  readonly record_time: number
} & ({ readonly row: string } | { readonly row_hash: string })

export type ActivityRun = {
  /** Number of the first row with its JSON, from 0. Of an empty run, the number that this row would have. */
  readonly first: number
  /** The hashes of the subtrees outside the run, from left to right, base64. */
  readonly hashes: readonly string[]
  /** The row before the first, the rows of the run, and the row after the last. An end of the tree has no such row. */
  readonly rows: readonly ShownRow[]
}

/** A row next to a run: its JSON is not shown. */
export type Neighbor = { readonly eventId: string; readonly recordTime: number }

export type ProvenRow = Neighbor & {
  /** JSON. */
  readonly row: string
}

export type ProvenRun = {
  /** null: the tree begins. */
  readonly before: Neighbor | null
  readonly rows: readonly ProvenRow[]
  /** null: the tree ends. */
  readonly behind: Neighbor | null
}

/** A run, and the one text that shows it. */
export type VerifiedRun = { readonly proven: ProvenRun; readonly text: string }

/** `<offset, 16 digits>:<index, 4 digits>`. */
export const EVENT_ID = /^[0-9]{16}:[0-9]{4}$/

/** SHA-256(00 ‖ event id ‖ u64 record time in µs ‖ SHA-256(row)). */
export function hashActivity(
  leaf: {
    readonly eventId: string
    readonly recordTime: number
    readonly rowHash: Uint8Array
  },
  sha256: Sha256,
): Uint8Array {
  const { eventId, recordTime, rowHash } = leaf
  return hashAppended(concatBytes([utf8(eventId), u64(recordTime), rowHash]), sha256)
}

/**
 * What a run proves, and its one text.
 *
 * @param tree - From the certified state, never from the prover.
 * @throws {InvalidProof} Unless it is the run of a tree of this size with this root.
 */
export function verifyRun(run: unknown, tree: ActivityTree, sha256: Sha256): VerifiedRun {
  const { first, hashes, rows } = decodeRun(run, sha256)
  const { size } = tree
  const [before, inside, behind] = splitRows(rows, first, size)
  const shownFirst = Math.max(0, first - 1)
  const leaves = rows.map((row) => hashActivity(row, sha256))
  let usedCount = 0
  const root =
    size === 0
      ? joinSubtrees([], sha256)
      : walkToRun<Uint8Array>(
          { first: shownFirst, end: shownFirst + rows.length, size },
          {
            leaf: (index) => leaves[index - shownFirst] as Uint8Array, // They are those of the run.
            outside: () => hashes[usedCount++] ?? EMPTY_ROOT,
            pair: (left, right) => hashPair(left, right, sha256),
          },
        )
  if (!bytesEqual(root, fromHex(tree.root)) || usedCount !== hashes.length) throw otherRun()
  return {
    proven: { before, rows: inside, behind },
    text: JSON.stringify({
      first,
      hashes: hashes.map(toBase64),
      rows: rows.map(({ eventId, recordTime, row, rowHash }) => ({
        event_id: eventId,
        record_time: recordTime,
        ...(row === null ? { row_hash: toBase64(rowHash) } : { row }),
      })),
    } satisfies ActivityRun),
  }
}

type DecodedRow = Neighbor & { readonly row: string | null; readonly rowHash: Uint8Array }

/** A neighbor exists unless the tree ends there, and shows no JSON. All other rows show theirs. */
function splitRows(
  rows: readonly DecodedRow[],
  first: number,
  size: number,
): [Neighbor | null, readonly ProvenRow[], Neighbor | null] {
  const inside = rows.flatMap(({ eventId, recordTime, row }) =>
    row === null ? [] : [{ eventId, recordTime, row }],
  )
  const end = first + inside.length
  const [beforeCount, behindCount] = [Number(first > 0), Number(end < size)]
  const isInPlace = rows
    .slice(beforeCount, beforeCount + inside.length)
    .every(({ row }) => row !== null)
  if (end > size || !isInPlace || rows.length !== beforeCount + inside.length + behindCount)
    throw otherRun()
  return [
    beforeCount > 0 ? (rows[0] as DecodedRow) : null,
    inside,
    behindCount > 0 ? (rows.at(-1) as DecodedRow) : null,
  ]
}

function otherRun(): InvalidProof {
  return new InvalidProof('NOT_PROVEN', 'the rows are of another history, or not all of a run')
}

type DecodedRun = {
  readonly first: number
  readonly hashes: readonly Uint8Array[]
  readonly rows: readonly DecodedRow[]
}

function decodeRun(run: unknown, sha256: Sha256): DecodedRun {
  const { first, hashes, rows } = membersOf(run) as Record<string, unknown>
  if (!isNatural(first) || !Array.isArray(hashes) || !Array.isArray(rows)) throw malformed('run')
  return { first, hashes: hashes.map(parseHash), rows: rows.map((row) => decodeRow(row, sha256)) }
}

function decodeRow(item: unknown, sha256: Sha256): DecodedRow {
  const { event_id, record_time, row, row_hash } = membersOf(item) as Record<string, unknown>
  if (typeof event_id !== 'string' || !EVENT_ID.test(event_id) || !isNatural(record_time))
    throw malformed('row')
  const place = { eventId: event_id, recordTime: record_time }
  if (typeof row !== 'string') return { ...place, row: null, rowHash: parseHash(row_hash) }
  // Else two texts would have one hash.
  if (LONE_SURROGATE.test(row)) throw malformed('row')
  return { ...place, row, rowHash: sha256(utf8(row)) }
}

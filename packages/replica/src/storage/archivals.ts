/**
 * The index of contracts that were archived: it finds those that were active at an earlier offset, among any number of others.
 *
 * A contract is active at the offsets from its creation up to the one before its archival. Such intervals are kept as in
 * the relational interval tree (Kriegel, Pötke, Seidl: "Managing Intervals Efficiently in Object-Relational Databases",
 * 2000). The node of an interval is the number in it that the highest power of two divides. An offset has one possible
 * node for each power of two. Of a node above the offset, the intervals that begin at or before it contain it; of one
 * below, those that end after it. So each interval is listed twice, by its begin and by its end:
 *
 *   tag of the key ‖ node ‖ 0 ‖ creation ‖ archival
 *   tag of the key ‖ node ‖ 1 ‖ archival
 */
import { concatBytes } from '@quorumscan/base'
import { stakeholdersOf } from '@quorumscan/ledger'
import type { Contract, Offset, PartyId } from '@quorumscan/model'
import { type Bounds, internKey, lexBound, membersWith } from './intern.ts'
import { archivalsKey } from './keys.ts'
import { OFFSET_BYTES, offsetBytes } from './order.ts'

/** The key that lists all archived contracts. */
export const ALL_ARCHIVALS = 'archivals'
const BY_CREATION = Uint8Array.of(0)
const BY_ARCHIVAL = Uint8Array.of(1)

/** The key of the archived contracts in which a party has a stake. */
export function archivalsOf(party: PartyId): string {
  return `archivals:${party}`
}

/** Members of the index, for contracts that one update archived: which update, not which contract, they lead to. */
export function archivalMembers(
  contracts: readonly Contract[],
  archival: Offset,
): readonly { readonly key: string; readonly member: Uint8Array }[] {
  return contracts.flatMap((contract) => {
    const creation = contract.offset
    const node = offsetBytes(nodeOf(creation, archival - 1))
    const end = offsetBytes(archival)
    const keys = stakeholdersOf(contract).map(archivalsOf)
    return [ALL_ARCHIVALS, ...keys].flatMap((indexKey) => {
      const { bucket, rest } = internKey(indexKey)
      const key = archivalsKey(bucket)
      return [
        { key, member: concatBytes([rest, node, BY_CREATION, offsetBytes(creation), end]) },
        { key, member: concatBytes([rest, node, BY_ARCHIVAL, end]) },
      ]
    })
  })
}

/** The offset of the archival, with which each member ends. */
export function archivalIn(member: Buffer): Offset {
  return member.readUIntBE(member.byteLength - OFFSET_BYTES, OFFSET_BYTES)
}

/**
 * Ranges of the index whose members are the archivals of contracts under the key that were active at the offset.
 *
 * @param end - No archival is later.
 */
export function archivalRanges(
  indexKey: string,
  at: Offset,
  end: Offset,
): readonly (Bounds & { readonly key: string })[] {
  const { bucket, rest } = internKey(indexKey)
  const key = archivalsKey(bucket)
  return nodesAround(at, end).map((node) => {
    const side = node < at ? BY_ARCHIVAL : BY_CREATION
    const list = concatBytes([rest, offsetBytes(node), side])
    const past = concatBytes([list, offsetBytes(at + 1)])
    const { min, max } = membersWith(list)
    return node < at
      ? { key, min: lexBound('[', past), max }
      : { key, min, max: lexBound('(', past) }
  })
}

/** The number from `first` to `last` that the highest power of two divides. */
function nodeOf(first: Offset, last: Offset): Offset {
  let node = last
  for (let bit = 1; ; bit *= 2) {
    const higher = node - (node % (2 * bit))
    if (higher < first || node === 0) return node
    node = higher
  }
}

/** The nodes of intervals up to `end` that may contain the offset. */
function nodesAround(at: Offset, end: Offset): readonly Offset[] {
  const nodes = [0]
  for (let power = 1; power <= end; power *= 2) {
    // Intervals of these nodes contain no multiple of a higher power.
    const over = at % (2 * power)
    if (over !== 0) nodes.push(at - over + power)
  }
  return nodes
}

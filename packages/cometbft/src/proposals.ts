/**
 * The entries that a block may hold. The rule is the same for every member, for ever: a member that refused what others
 * accept would stop the chain. So nothing here reads a wall clock, a rate, or what was ordered before.
 *
 * Block time is the median of the votes for the block before: after an outage the first block is as old as the
 * outage. So an entry is compared with the record time that it will have, and replicas never ignore an ordered entry for
 * its time.
 *
 * Rules change with the version of the protocol alone (`rules.ts` of the ledger), some minutes after it governs entries:
 * by then all members know of it. If one is in force that this software does not know, nothing fits into a block.
 */
import { type CheckedEntry, groupBytesOf, isInTime } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import { recordTimeOf, type Tip } from './blocks.ts'

/** The limits of a block, from the genesis. */
export type BlockLimits = {
  /** Bytes of the group that the block makes. */
  readonly bytesMax: number
  /** Contracts that its entries name, summed. */
  readonly contractsMax: number
}

type Proposal = {
  readonly tip: Pick<Tip, 'recordTime'>
  readonly timeMicros: Micros
  readonly entries: readonly Uint8Array[]
  /** The version of the protocol by which this block is checked. */
  readonly version: number
  readonly limits: BlockLimits
  readonly checkEntry: (bytes: Uint8Array) => CheckedEntry
}

/** Whether a member votes for this block. */
export function isAcceptable(proposal: Proposal): boolean {
  const fits = createBlockFiller(proposal)
  return proposal.entries.every(fits)
}

/**
 * The entries of these that a member proposes, in their order.
 *
 * @param proposal.wireBytesMax - What the engine allows for the entries as it encodes them.
 * @param proposal.isOrdered - Whether an entry is in the log already.
 */
export function selectEntries(
  proposal: Proposal & {
    readonly wireBytesMax: number
    readonly isOrdered: (entryHash: string) => boolean
  },
): Uint8Array[] {
  const fits = createBlockFiller(proposal)
  let wireBytes = 0
  return proposal.entries.filter((bytes) => {
    const checked = proposal.checkEntry(bytes)
    if (checked.kind === 'refused' || proposal.isOrdered(checked.entryHash)) return false
    const grown = wireBytes + WIRE_OVERHEAD_BYTES + bytes.byteLength
    if (grown > proposal.wireBytesMax || !fits(bytes)) return false
    wireBytes = grown
    return true
  })
}

/** The overhead of a byte string in a block: its tag, and its length as a varint of an int32. */
const WIRE_OVERHEAD_BYTES = 6

/** Takes entries one after the other: whether each still fits into the block, after those that it admitted. */
function createBlockFiller(proposal: Proposal): (bytes: Uint8Array) => boolean {
  const { limits, version } = proposal
  let recordTime = recordTimeOf(proposal.tip, proposal.timeMicros)
  let entryBytes = 0
  let contractCount = 0
  let count = 0
  return (bytes) => {
    const checked = proposal.checkEntry(bytes)
    if (checked.kind === 'refused' || !isInTime(checked.notAfter, recordTime)) return false
    if (groupBytesOf(entryBytes + bytes.byteLength, count + 1) > limits.bytesMax) return false
    const named = checked.contractCounts.get(version)
    if (named === undefined || contractCount + named > limits.contractsMax) return false
    entryBytes += bytes.byteLength
    contractCount += named
    count++
    recordTime++
    return true
  }
}

/**
 * A decided block adds one group to the log. Pure, and the same for every member: each offset and record time follows from
 * the blocks in order. Every byte string of a block becomes an entry. Only replicas interpret it.
 */
import { assert, fromHex, sha256, toHex } from '@quorumscan/base'
import { encodeGroup, type Group } from '@quorumscan/log'
import type { LogPosition, Micros, Offset } from '@quorumscan/model'

/** The end of the log after a block. */
export type Tip = LogPosition & {
  /** The height of the newest block; 0 before the first. */
  readonly height: number
  /** The hash of the newest group, hex; the genesis hash before the first. */
  readonly hash: string
  /**
   * Hash of the newest group that is not a checkpoint, hex; the genesis hash before the first. What the members agree on
   * as the state: if an empty block changed it, the engine would make another block, and the chain would never be idle.
   */
  readonly appHash: string
}

export type Block = {
  readonly height: number
  /** Block time, nanoseconds floored. */
  readonly timeMicros: Micros
  readonly entries: readonly Uint8Array[]
}

export type BlockGroup = Pick<Group, 'firstOffset' | 'previousHash' | 'entries'> & {
  readonly lastOffset: Offset
  readonly bytes: Uint8Array
}

const MICROS_PER_SECOND = 1_000_000n
const NANOS_PER_MICRO = 1000

/** An empty block advances record time. */
const CHECKPOINT = new Uint8Array(0)

export function genesisTip(genesis: { readonly hash: string; readonly recordTime: Micros }): Tip {
  const { hash, recordTime } = genesis
  assert(fromHex(hash).byteLength === 32, 'a genesis hash has 32 bytes')
  return { height: 0, offset: 0, recordTime, hash, appHash: hash }
}

/** Record time of the first entry of the block after `tip`; each further entry is 1 µs later. */
export function recordTimeOf(tip: Pick<Tip, 'recordTime'>, timeMicros: Micros): Micros {
  return Math.max(tip.recordTime + 1, timeMicros)
}

/** The group that the block after `tip` makes, and the end of the log after it. */
export function orderBlock(tip: Tip, block: Block) {
  assert(block.height === tip.height + 1, `block ${block.height} does not follow ${tip.height}`)
  const first = recordTimeOf(tip, block.timeMicros)
  const isEmpty = block.entries.length === 0
  const all = isEmpty ? [CHECKPOINT] : block.entries
  const entries = all.map((bytes, index) => ({ recordTime: first + index, bytes }))
  const group = { firstOffset: tip.offset + 1, previousHash: tip.hash, entries }
  const bytes = encodeGroup(group)
  const hash = toHex(sha256(bytes))
  const offset = tip.offset + entries.length
  const recordTime = first + entries.length - 1
  const appHash = isEmpty ? tip.appHash : hash
  return {
    group: { ...group, lastOffset: offset, bytes },
    tip: { height: block.height, offset, recordTime, hash, appHash },
  }
}

/** The microseconds of a time of the engine, floored. */
export function microsOf({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }) {
  const micros = Number(seconds * MICROS_PER_SECOND) + Math.floor(nanos / NANOS_PER_MICRO)
  assert(Number.isSafeInteger(micros) && micros >= 0, 'a block time is µs since the epoch')
  return micros
}

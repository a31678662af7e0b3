/**
 * Reads a block vote: the bytes that a member signs when its CometBFT engine votes for a block. The engine defines the
 * form: a length, then a message with its fields in order.
 */
import { readVarint, type Varint } from '../encoding/varint.ts'

/** The engine's name for a network. At most 50 characters, which leaves no room for the whole hash. */
const CHAIN_HASH_DIGITS = 40

const STEPS = { 1: 'prevote', 2: 'precommit' } as const

export type BlockVote = {
  readonly chainId: string
  readonly height: number
  readonly round: number
  readonly step: (typeof STEPS)[keyof typeof STEPS]
  /** The id of the block that the vote is for; empty: a vote for no block. */
  readonly block: Uint8Array
}

/** @param genesisHash - Hex. */
export function chainIdOf(genesisHash: string): string {
  return `qs-${genesisHash.slice(0, CHAIN_HASH_DIGITS)}`
}

/** Reads a block vote. Returns null for other bytes. */
export function readBlockVote(signed: Uint8Array): BlockVote | null {
  const length = numberAt(signed, 0)
  if (length === null || length.end + length.value !== signed.byteLength) return null
  const fields = fieldsOf(signed.subarray(length.end))
  if (fields === null) return null
  const { 1: step, 2: height, 3: round = 0, 4: block = NOTHING, 5: time, 6: chain } = fields
  if (step !== 1 && step !== 2) return null
  if (typeof height !== 'number' || typeof round !== 'number') return null
  if (!(block instanceof Uint8Array && time instanceof Uint8Array && chain instanceof Uint8Array))
    return null
  return { chainId: new TextDecoder().decode(chain), height, round, step: STEPS[step], block }
}

const NOTHING = new Uint8Array(0)
const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const NUMBER_BYTES_MAX = 4

/** Numbers and byte strings by their field number. Null unless each field occurs once and in order. */
function fieldsOf(bytes: Uint8Array): Readonly<Record<number, number | Uint8Array>> | null {
  const fields: Record<number, number | Uint8Array> = {}
  let last = 0
  for (let at = 0; at < bytes.byteLength; ) {
    const tag = numberAt(bytes, at)
    if (tag === null) return null
    const field = tag.value >> 3
    if (field <= last) return null
    last = field
    const wireType = tag.value & 7
    if (wireType === FIXED64) {
      at = tag.end + 8
      if (at > bytes.byteLength) return null
      const value = new DataView(bytes.buffer, bytes.byteOffset + tag.end).getBigInt64(0, true)
      fields[field] = Number(value)
    } else if (wireType === VARINT || wireType === BYTES) {
      const number = numberAt(bytes, tag.end)
      if (number === null) return null
      at = wireType === BYTES ? number.end + number.value : number.end
      if (at > bytes.byteLength) return null
      fields[field] = wireType === BYTES ? bytes.subarray(number.end, at) : number.value
    } else return null
  }
  return fields
}

/** A number of at most 28 bits; null for other bytes. */
function numberAt(bytes: Uint8Array, at: number): Varint | null {
  try {
    return readVarint(bytes, NUMBER_BYTES_MAX, at)
  } catch {
    return null
  }
}

/**
 * Groups: the entries that the synchronizer commits together, their bytes, hash and signature. Pure.
 *
 * Bytes of a group, integers u64 big-endian:
 * first offset ‖ count ‖ hash of the group before (32) ‖ count × (record time ‖ length ‖ bytes).
 * Its hash is their SHA-256; the first group names the genesis hash. What is signed is the log-group
 * statement of D-41.
 */
import {
  concatBytes,
  fromHex,
  type KeyPair,
  sha256,
  toHex,
  u64,
  verifySignature,
} from '@quorumscan/base'
import type { LogEntry } from '@quorumscan/ledger'
import type { Micros, Offset } from '@quorumscan/model'
import { encodeLogGroupStatement, type GenesisOrdering } from '@quorumscan/verifier'

/** What every group of a network is bound to. */
export type LogGenesis = {
  /** Genesis hash, hex. */
  readonly hash: string
  /** T(0). */
  readonly recordTime: Micros
  /** What makes a group authentic. */
  readonly ordering: GenesisOrdering
}

export type Group = {
  readonly firstOffset: Offset
  /** Hex. */
  readonly previousHash: string
  /** At least one; record times rise. Empty bytes are a checkpoint. */
  readonly entries: readonly { readonly recordTime: Micros; readonly bytes: Uint8Array }[]
}

type DecodedGroup = Omit<Group, 'entries'> & {
  readonly lastOffset: Offset
  readonly entries: readonly LogEntry[]
}

/** A group that was verified or made here, with the bytes that prove it. */
export type SignedGroup = DecodedGroup & {
  /** SHA-256 of `bytes`, hex. */
  readonly hash: string
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
}

/** A group as stored in the stream. `signature` proves it, or is the seal of a block. */
export type StreamGroup = Pick<SignedGroup, 'firstOffset' | 'lastOffset' | 'bytes' | 'signature'>

export type GroupFault = 'malformed' | 'signature' | 'position' | 'chain' | 'time'

/** An element of the stream is not a group that the synchronizer could have committed there. */
export class LogGroupError extends Error {
  override readonly name = 'LogGroupError'
  readonly fault: GroupFault

  constructor(fault: GroupFault, message: string) {
    super(message)
    this.fault = fault
  }
}

const U64_BYTES = 8
const HASH_BYTES = 32
const HEADER_BYTES = 2 * U64_BYTES + HASH_BYTES

/** @throws {RangeError} If a number is not a safe integer, or the hash not 32 bytes of hex. */
export function encodeGroup(group: Group): Uint8Array {
  const previousHash = fromHex(group.previousHash)
  if (previousHash.byteLength !== HASH_BYTES) throw new RangeError('a hash has 32 bytes')
  const parts = [u64(group.firstOffset), u64(group.entries.length), previousHash]
  for (const entry of group.entries)
    parts.push(u64(entry.recordTime), u64(entry.bytes.byteLength), entry.bytes)
  return concatBytes(parts)
}

/**
 * Reads exactly what `encodeGroup` writes. The entries' bytes are views of `bytes`.
 *
 * @throws {LogGroupError} `malformed`, or `time` if record times do not rise inside the group.
 */
export function decodeGroup(bytes: Uint8Array): DecodedGroup {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = 0
  const take = (length: number): number => {
    if (length > bytes.byteLength - position)
      throw new LogGroupError('malformed', 'a group ends early')
    position += length
    return position - length
  }
  const takeU64 = (): number => {
    const value = view.getBigUint64(take(U64_BYTES))
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw new LogGroupError('malformed', 'a number of a group is not a safe integer')
    return Number(value)
  }
  const firstOffset = takeU64()
  const count = takeU64()
  const hashAt = take(HASH_BYTES)
  const previousHash = toHex(bytes.subarray(hashAt, hashAt + HASH_BYTES))
  if (firstOffset < 1 || count < 1 || !Number.isSafeInteger(firstOffset + count))
    throw new LogGroupError('malformed', 'a group has at least one entry, offsets start at 1')
  const entries: LogEntry[] = []
  for (let index = 0; index < count; index++) {
    const recordTime = takeU64()
    if (recordTime <= (entries.at(-1)?.recordTime ?? -1))
      throw new LogGroupError('time', `record time does not increase at ${firstOffset + index}`)
    const length = takeU64()
    const start = take(length)
    const offset = firstOffset + index
    entries.push({ offset, recordTime, bytes: bytes.subarray(start, start + length) })
  }
  if (position !== bytes.byteLength)
    throw new LogGroupError('malformed', 'a group has bytes after its last entry')
  return { firstOffset, lastOffset: firstOffset + count - 1, previousHash, entries }
}

export function signGroup(
  group: Group,
  options: { readonly genesisHash: string; readonly keyPair: KeyPair },
): SignedGroup {
  const bytes = encodeGroup(group)
  const unsigned = { ...decodeGroup(bytes), hash: toHex(sha256(bytes)), bytes }
  return { ...unsigned, signature: options.keyPair.sign(statement(unsigned, options.genesisHash)) }
}

/**
 * Decodes a group and verifies the synchronizer's signature, if the genesis names its key. The caller checks the position of
 * the group (`chain.ts`).
 *
 * @throws {LogGroupError} `malformed`, `time` or `signature`.
 */
export function openGroup(
  input: { readonly bytes: Uint8Array; readonly signature: Uint8Array },
  genesis: LogGenesis,
): SignedGroup {
  const { bytes, signature } = input
  const unsigned = { ...decodeGroup(bytes), hash: toHex(sha256(bytes)), bytes }
  const { ordering } = genesis
  // With the driver `cometbft`, a group is authentic because it comes from the operator's own synchronizer.
  const message = statement(unsigned, genesis.hash)
  const isAuthentic =
    ordering.driver === 'cometbft' ||
    verifySignature({ publicKey: ordering.key, message, signature })
  if (!isAuthentic)
    throw new LogGroupError(
      'signature',
      `the group at ${unsigned.firstOffset} is not signed by the synchronizer of this network`,
    )
  return { ...unsigned, signature }
}

function statement(group: Omit<SignedGroup, 'signature'>, genesisHash: string): Uint8Array {
  return encodeLogGroupStatement({ ...group, genesisHash, contentHash: group.hash })
}

/** Bytes that a group of these entries has. */
export function groupBytesOf(entryBytes: number, entryCount: number): number {
  return HEADER_BYTES + entryBytes + entryCount * 2 * U64_BYTES
}

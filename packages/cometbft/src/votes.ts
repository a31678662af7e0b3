/** What a member signs when it votes, made of the vote as the engine writes it in JSON. Pure; both forms are the engine's. */
import { assert, fromHex } from '@quorumscan/base'
import { parseInstant } from '@quorumscan/verifier'
import { BinaryWriter } from 'cosmjs-types/binary'
import { Timestamp } from 'cosmjs-types/google/protobuf/timestamp'
import { BlockID } from 'cosmjs-types/tendermint/types/types'
import type { SignedVote } from './engine-answers.ts'
import { encodeMessage } from './messages.ts'

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const tagOf = (field: number, wireType: number) => (field << 3) | wireType

export function voteSignBytes(vote: SignedVote, chainId: string): Uint8Array {
  const writer = new BinaryWriter()
    .uint32(tagOf(1, VARINT))
    .uint32(vote.type)
    .uint32(tagOf(2, FIXED64))
    .sfixed64(BigInt(vote.height))
  // What is zero or empty is left out.
  if (vote.round !== 0) writer.uint32(tagOf(3, FIXED64)).sfixed64(BigInt(vote.round))
  const { hash, parts } = vote.block_id
  if (hash !== '') {
    const partSetHeader = { total: parts.total, hash: fromHex(parts.hash.toLowerCase()) }
    const block = BlockID.fromPartial({ hash: fromHex(hash.toLowerCase()), partSetHeader })
    writer.uint32(tagOf(4, BYTES)).bytes(BlockID.encode(block).finish())
  }
  writer.uint32(tagOf(5, BYTES)).bytes(Timestamp.encode(timestampOf(vote.timestamp)).finish())
  return encodeMessage(writer.uint32(tagOf(6, BYTES)).string(chainId).finish())
}

const MICROS_PER_SECOND = 1_000_000
const SECONDS_DIGITS = '2026-01-01T00:00:00'.length
const NANOS_DIGITS = 9

/** The timestamp of a text of RFC 3339 with any number of fractional digits, as the engine writes it. */
export function timestampOf(text: string): Timestamp {
  const micros = parseInstant(`${text.slice(0, SECONDS_DIGITS)}.000000Z`)
  assert(micros !== undefined, 'the engine writes instants')
  const fraction = text.slice(SECONDS_DIGITS + 1, -1)
  const seconds = BigInt(micros / MICROS_PER_SECOND)
  return { seconds, nanos: Number(fraction.padEnd(NANOS_DIGITS, '0')) }
}

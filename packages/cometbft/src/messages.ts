/** Messages in the stream of a socket: each after its length as a varint. */
import { readVarint, splitFrames } from '@quorumscan/base'
import { BinaryWriter } from 'cosmjs-types/binary'

/** A block of the largest size with what the engine adds to it, twice. */
const MESSAGE_BYTES_MAX = 8 * 2 ** 20
/** The longest varint of 32 bits. */
const LENGTH_BYTES_MAX = 5

export function encodeMessage(message: Uint8Array): Uint8Array {
  return new BinaryWriter().bytes(message).finish()
}

/**
 * Takes bytes as they arrive, and returns the messages that are complete.
 *
 * @throws {RangeError} If the bytes are not a sequence of messages, or one is too large.
 */
export function createMessageReader(bytesMax = MESSAGE_BYTES_MAX) {
  const splitter = splitFrames((bytes) => {
    const length = readVarint(bytes, LENGTH_BYTES_MAX)
    if (length === null) return bytes.byteLength + 1
    if (length.value > bytesMax)
      throw new RangeError(`a message of ${length.value} bytes; ${bytesMax} are allowed`)
    return length.end + length.value
  })
  return (chunk: Uint8Array): Uint8Array[] =>
    Array.from(splitter.add(chunk), (message) =>
      message.subarray(readVarint(message, LENGTH_BYTES_MAX)?.end),
    )
}

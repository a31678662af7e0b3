/** Messages in the stream of a socket: each after its length as a varint. Pure. */
import { readVarint, splitFrames } from '@quorumscan/base'
import { BinaryWriter } from 'cosmjs-types/binary'

/** A block of the largest size with what the engine adds to it, twice. */
export const MESSAGE_BYTES_MAX = 8 * 2 ** 20
/** Of a varint of 32 bits. */
const LENGTH_BYTES_MAX = 5

/** What arrives is no sequence of messages, or one is too large. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
}

export function encodeMessage(message: Uint8Array): Uint8Array {
  return new BinaryWriter().bytes(message).finish()
}

/** Takes bytes as they arrive, and gives the messages that are whole. @throws {MessageError} */
export function createMessageReader(
  bytesMax = MESSAGE_BYTES_MAX,
): (chunk: Uint8Array) => Uint8Array[] {
  const splitter = splitFrames((bytes) => {
    const length = lengthOf(bytes)
    if (length === null) return bytes.byteLength + 1
    if (length.value > bytesMax)
      throw new MessageError(`a message of ${length.value} bytes; ${bytesMax} are allowed`)
    return length.end + length.value
  })
  return (chunk) =>
    Array.from(splitter.add(chunk), (message) => message.subarray(lengthOf(message)?.end))
}

function lengthOf(bytes: Uint8Array): ReturnType<typeof readVarint> {
  try {
    return readVarint(bytes, LENGTH_BYTES_MAX)
  } catch (cause) {
    throw new MessageError('a length that does not end', { cause })
  }
}

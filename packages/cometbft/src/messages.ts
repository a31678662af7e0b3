/** How messages lie in the stream of a socket: each behind its length as a varint. Pure. */
import { BinaryReader, BinaryWriter } from 'cosmjs-types/binary'

/** A block of the largest size with what the engine adds to it, twice. */
export const MESSAGE_BYTES_MAX = 8 * 2 ** 20
/** Of a varint of 32 bits. */
const LENGTH_BYTES_MAX = 5
const MORE = 0x80

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
  let chunks: Uint8Array[] = []
  let size = 0
  /** Bytes that must be there before it is worth looking again. */
  let needed = 1
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size < needed) return []
    let rest: Uint8Array = Buffer.concat(chunks)
    const messages: Uint8Array[] = []
    for (;;) {
      const head = lengthOf(rest)
      needed = head === null ? rest.byteLength + 1 : head.bytes + head.length
      if (head !== null && head.length > bytesMax)
        throw new MessageError(`a message of ${head.length} bytes; ${bytesMax} are allowed`)
      if (head === null || rest.byteLength < needed) break
      messages.push(rest.subarray(head.bytes, needed))
      rest = rest.subarray(needed)
    }
    chunks = [rest]
    size = rest.byteLength
    return messages
  }
}

/** Null while it is not whole. */
function lengthOf(bytes: Uint8Array): { readonly length: number; readonly bytes: number } | null {
  const start = bytes.subarray(0, LENGTH_BYTES_MAX)
  const end = start.findIndex((byte) => (byte & MORE) === 0)
  if (end >= 0) return { length: new BinaryReader(start).uint32(), bytes: end + 1 }
  if (bytes.byteLength >= LENGTH_BYTES_MAX) throw new MessageError('a length that does not end')
  return null
}

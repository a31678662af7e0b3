/** Bytes without Node's Buffer, so that the package runs in a browser. */

const encoder = new TextEncoder()
const HEX = /^(?:[0-9a-f]{2})*$/

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return hex
}

/** @throws {RangeError} If the text is not lower-case hex of an even length. */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (!HEX.test(hex)) throw new RangeError('not lower-case hex')
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16)
  return bytes
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let position = 0
  for (const part of parts) {
    out.set(part, position)
    position += part.byteLength
  }
  return out
}

/** Equality of content, not in constant time: never for secrets. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  const { byteLength } = a
  if (byteLength !== b.byteLength) return false
  let position = 0
  // Answers of nodes are compared whole: four bytes at a time where both lie on a word boundary.
  if (((a.byteOffset | b.byteOffset) & 3) === 0) {
    const wordCount = byteLength >> 2
    const wordsOfA = new Int32Array(a.buffer, a.byteOffset, wordCount)
    const wordsOfB = new Int32Array(b.buffer, b.byteOffset, wordCount)
    for (; position < wordCount; position++)
      if (wordsOfA[position] !== wordsOfB[position]) return false
    position *= 4
  }
  for (; position < byteLength; position++) if (a[position] !== b[position]) return false
  return true
}

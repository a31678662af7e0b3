/** Bytes by Node's Buffer. The verifier's own hex takes 4 to 15 times as long for 64 bytes. */

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const HEX = /^(?:[0-9a-f]{2})*$/

/** @throws {TypeError} If the bytes are not well-formed UTF-8. A byte order mark is kept as a character. */
export function fromUtf8(bytes: Uint8Array): string {
  return strictDecoder.decode(bytes)
}

/** The same bytes, not a copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('hex')
}

/** With padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('base64')
}

/** @throws {RangeError} If the text is not lower-case hex of an even length. */
export function fromHex(hex: string): Uint8Array {
  if (!HEX.test(hex)) throw new RangeError('not lower-case hex')
  return new Uint8Array(Buffer.from(hex, 'hex'))
}

/** Equality of content, not in constant time: never for secrets. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0
}

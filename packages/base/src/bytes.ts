/** Bytes by Node's Buffer, where it is quicker than the verifier, which runs in browsers. */

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

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

/** Equality of content, not in constant time: never for secrets. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0
}

/** Bytes without Node's Buffer, so that the package runs in a browser. */

// Unless marked, it stays in bundles that encode no text.
const encoder = /* @__PURE__ */ new TextEncoder()
const HEX = /^([0-9a-f]{2})*$/

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += (byte + 256).toString(16).slice(1)
  return hex
}

/** @throws {RangeError} If the text is not lower-case hex of an even length. */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  if (!HEX.test(hex)) throw new RangeError('not lower-case hex')
  return new Uint8Array(hex.length / 2).map((_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  )
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

/** Eight bytes, big-endian. */
export function u64(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a u64')
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}

/** Equality of content, not in constant time: never for secrets. For whole answers there is `bodiesEqual`. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, position) => byte === b[position])
}

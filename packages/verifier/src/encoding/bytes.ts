/** Bytes without Node's Buffer, so that the package runs in a browser. */

// Made at first use: jsdom has no coders, and an import must not fail there.
let encoder: TextEncoder | undefined
let decoder: TextDecoder | undefined
let lossyDecoder: TextDecoder | undefined
const HEX = /^([0-9a-f]{2})*$/

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  encoder ??= new TextEncoder()
  return encoder.encode(text)
}

/** UTF-8 as text, with a byte order mark if it has one. @throws {TypeError} If it is not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return decoder.decode(bytes)
}

/** As `fromUtf8`, with U+FFFD in place of what is not UTF-8. */
export function fromUtf8Lossily(bytes: Uint8Array): string {
  lossyDecoder ??= new TextDecoder('utf-8', { ignoreBOM: true })
  return lossyDecoder.decode(bytes)
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

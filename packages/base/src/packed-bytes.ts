/**
 * Packed bytes, one value after the other: unsigned varints (LEB128), hex, texts and byte strings with their length.
 * Values have no tags: the reader follows the same order as the writer.
 */
import { assert } from './assert.ts'
import { bufferOf } from './bytes.ts'

const INITIAL_BYTES = 512
/** The longest varint of a safe integer. */
const VARINT_BYTES_MAX = 8

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  byteCount(): number {
    return this.#length
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** A safe integer ≥ 0; 1 byte below 128. */
  unsigned(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, `only safe integers are packed, not ${value}`)
    this.#reserve(VARINT_BYTES_MAX)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  hex(digits: string): void {
    this.#reserve(digits.length / 2)
    this.#length += this.#bytes.write(digits, this.#length, 'hex')
  }

  /** The bytes alone: the reader knows their number. */
  raw(value: Uint8Array): void {
    this.#reserve(value.byteLength)
    this.#bytes.set(value, this.#length)
    this.#length += value.byteLength
  }

  /** The bytes after their length. */
  bytes(value: Uint8Array): void {
    this.unsigned(value.byteLength)
    this.raw(value)
  }

  /** The text after its length. */
  text(value: string): void {
    this.bytes(Buffer.from(value, 'utf8'))
  }

  list<T>(items: readonly T[], write: (item: T, index: number) => void): void {
    this.unsigned(items.length)
    items.forEach(write)
  }

  append(other: ByteWriter): void {
    this.raw(other.#bytes.subarray(0, other.#length))
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.byteLength) return
    const grown = Buffer.allocUnsafe(2 * (this.#length + count))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Trusts the bytes to be what a `ByteWriter` wrote; bytes that end early are a bug. */
export class ByteReader {
  readonly #bytes: Buffer
  #position: number

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bufferOf(bytes)
    this.#position = position
  }

  isAtEnd(): boolean {
    return this.#position >= this.#bytes.byteLength
  }

  byte(): number {
    const byte = this.#bytes[this.#position++]
    assert(byte !== undefined, 'packed bytes do not end early')
    return byte
  }

  /** As `readVarint`, without an object for each number: replicas read several for each name. */
  unsigned(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  /** A view of the next bytes. */
  raw(count: number): Buffer {
    const start = this.#skip(count)
    return this.#bytes.subarray(start, this.#position)
  }

  /** A view of all that is left. */
  rest(): Buffer {
    return this.raw(this.#bytes.byteLength - this.#position)
  }

  hex(count: number): string {
    const start = this.#skip(count)
    return this.#bytes.toString('hex', start, this.#position)
  }

  /** So many bytes of UTF-8. */
  utf8(count: number): string {
    const start = this.#skip(count)
    return this.#bytes.toString('utf8', start, this.#position)
  }

  text(): string {
    return this.utf8(this.unsigned())
  }

  /** The range of the next text or byte string, which is skipped. */
  span(): { readonly start: number; readonly end: number } {
    const length = this.unsigned()
    const start = this.#skip(length)
    return { start, end: this.#position }
  }

  /** A list of integers. */
  numbers(): number[] {
    return Array.from({ length: this.unsigned() }, () => this.unsigned())
  }

  /** The start of the bytes, which are skipped. */
  #skip(count: number): number {
    const start = this.#position
    this.#position += count
    assert(this.#position <= this.#bytes.byteLength, 'packed bytes do not end early')
    return start
  }
}

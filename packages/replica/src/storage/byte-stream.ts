/** Writing and reading packed bytes one after the other: varints, texts with their length, hex, lists. */
import { assert } from '@quorumscan/base'

const INITIAL_BYTES = 1024

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  /** A copy of what was written. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  /** A safe integer ≥ 0. */
  unsigned(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  text(value: string): void {
    this.bytes(Buffer.from(value, 'utf8'))
  }

  hex(digits: string): void {
    this.#reserve(digits.length / 2)
    this.#length += this.#bytes.write(digits, this.#length, 'hex')
  }

  bytes(value: Uint8Array): void {
    this.unsigned(value.byteLength)
    this.#put(value)
  }

  list<T>(items: readonly T[], write: (item: T, index: number) => void): void {
    this.unsigned(items.length)
    items.forEach(write)
  }

  append(other: ByteWriter): void {
    this.#put(other.#bytes.subarray(0, other.#length))
  }

  #put(value: Uint8Array): void {
    this.#reserve(value.byteLength)
    this.#bytes.set(value, this.#length)
    this.#length += value.byteLength
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
  #position = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  unsigned(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#bytes[this.#position++]
      assert(byte !== undefined, 'stored bytes do not end early')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  text(): string {
    const { start, end } = this.span()
    return this.#bytes.toString('utf8', start, end)
  }

  hex(count: number): string {
    const start = this.#position
    this.#position += count
    return this.#bytes.toString('hex', start, this.#position)
  }

  /** Where the next text or byte string lies, which is passed over. */
  span(): { readonly start: number; readonly end: number } {
    const length = this.unsigned()
    const start = this.#position
    this.#position += length
    assert(this.#position <= this.#bytes.byteLength, 'stored bytes do not end early')
    return { start, end: this.#position }
  }

  /** A list of integers. */
  numbers(): number[] {
    const count = this.unsigned()
    const items: number[] = []
    for (let index = 0; index < count; index++) items.push(this.unsigned())
    return items
  }
}

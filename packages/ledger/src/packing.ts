/**
 * Bytes of stored values: unsigned varints (LEB128), texts with their length, parties by their first
 * occurrence. Nothing describes itself: the reader follows the same type as the writer.
 */
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { ContractId, PartyId } from '@quorumscan/model'

const INITIAL_BYTES = 512
const HASH_BYTES = 32
/** `::1220`, between the hint of a party and the 64 digits of its participant. */
const PARTY_JOINT = '::1220'
const PARTICIPANT_DIGITS = 64

export class PackWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0
  readonly #parties = new Map<PartyId, number>()

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

  unsignedBig(value: bigint): void {
    this.#reserve(32)
    let rest = value
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#bytes[this.#length++] = Number(rest)
  }

  text(value: string): void {
    const bytes = utf8(value)
    this.unsigned(bytes.byteLength)
    this.#reserve(bytes.byteLength)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.byteLength
  }

  /** 64 hex digits. */
  hash(hex: string): void {
    this.#reserve(HASH_BYTES)
    this.#bytes.write(hex, this.#length, 'hex')
    this.#length += HASH_BYTES
  }

  contractId(id: ContractId): void {
    this.hash(id.slice(2))
  }

  /** 0 and the party the first time, then its number. */
  party(party: PartyId): void {
    const number = this.#parties.get(party)
    this.unsigned(number ?? 0)
    if (number !== undefined) return
    this.#parties.set(party, this.#parties.size + 1)
    this.text(party.slice(0, -(PARTICIPANT_DIGITS + PARTY_JOINT.length)))
    this.hash(party.slice(-PARTICIPANT_DIGITS))
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.byteLength) return
    const grown = Buffer.allocUnsafe(2 * (this.#length + count))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Trusts the bytes to be what a `PackWriter` wrote; bytes that end early are a bug. */
export class PackReader {
  readonly #bytes: Buffer
  #position = 0
  readonly #parties: PartyId[] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  unsigned(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  unsignedBig(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  text(): string {
    const length = this.unsigned()
    return fromUtf8(this.#take(length))
  }

  hash(): string {
    return this.#take(HASH_BYTES).toString('hex')
  }

  contractId(): ContractId {
    return `00${this.hash()}`
  }

  party(): PartyId {
    const number = this.unsigned()
    if (number === 0) this.#parties.push(`${this.text()}${PARTY_JOINT}${this.hash()}`)
    const party = this.#parties.at(number - 1)
    assert(party !== undefined, 'a party is named before it is referred to')
    return party
  }

  #byte(): number {
    const byte = this.#bytes[this.#position++]
    assert(byte !== undefined, 'stored bytes do not end early')
    return byte
  }

  #take(length: number): Buffer {
    const end = this.#position + length
    assert(end <= this.#bytes.byteLength, 'stored bytes do not end early')
    const taken = this.#bytes.subarray(this.#position, end)
    this.#position = end
    return taken
  }
}

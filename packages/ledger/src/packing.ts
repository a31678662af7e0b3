/**
 * Bytes of stored values: unsigned varints (LEB128), texts with their length and without beginnings and ends
 * that are common, parties by their first occurrence. Nothing describes itself: the reader follows the same
 * type as the writer.
 */
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { ContractId, PartyId } from '@quorumscan/model'

/** What texts often begin or end with. The order is part of the stored form. */
const PREFIXES = ['', 'https://', 'http://', 'ANS entry: "'] as const
const SUFFIXES = ['', '.unverified.ns', '.unverified.ns"'] as const

const INITIAL_BYTES = 512
const HASH_BYTES = 32
/** `::1220`, between the hint of a party and the 64 digits of its participant. */
const PARTY_JOINT = '::1220'
const PARTICIPANT_DIGITS = 64

export class PackWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0
  readonly #parties: Map<PartyId, number>

  /** `known` are parties that the reader knows as well. */
  constructor(known: readonly PartyId[] = []) {
    this.#parties = new Map(known.map((party, index) => [party, index + 1]))
  }

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
    const prefix = PREFIXES.findLastIndex((each) => value.startsWith(each))
    const begin = PREFIXES[prefix]?.length ?? 0
    const suffix = SUFFIXES.findLastIndex(
      (each) => value.length >= begin + each.length && value.endsWith(each),
    )
    const bytes = utf8(value.slice(begin, value.length - (SUFFIXES[suffix]?.length ?? 0)))
    // Most texts have neither, or are short: one byte says all three.
    this.unsigned(bytes.byteLength * 2 + (prefix + suffix > 0 ? 1 : 0))
    if (prefix + suffix > 0) this.unsigned(prefix * SUFFIXES.length + suffix)
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
  readonly #parties: PartyId[]

  constructor(bytes: Uint8Array, known: readonly PartyId[] = []) {
    this.#parties = [...known]
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
    const head = this.unsigned()
    const affixes = head % 2 === 1 ? this.unsigned() : 0
    const prefix = PREFIXES[Math.floor(affixes / SUFFIXES.length)]
    const suffix = SUFFIXES[affixes % SUFFIXES.length]
    return `${prefix}${fromUtf8(this.#take(Math.floor(head / 2)))}${suffix}`
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

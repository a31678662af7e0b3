/**
 * Packed values of the ledger model: integers, hashes, texts without common prefixes and suffixes, and parties by their
 * first occurrence.
 */
import { assert, ByteReader, ByteWriter, utf8 } from '@quorumscan/base'
import type { ContractId, PartyId } from '@quorumscan/model'

/** Frequent beginnings and endings of texts. The order is part of the stored form. */
const PREFIXES = ['', 'https://', 'http://', 'ANS entry: "'] as const
const SUFFIXES = ['', '.unverified.ns', '.unverified.ns"'] as const

const HASH_BYTES = 32
/** `::1220`, between the hint of a party and the 64 digits of its participant. */
const PARTY_JOINT = '::1220'
const PARTICIPANT_DIGITS = 64

export class PackWriter extends ByteWriter {
  readonly #parties: Map<PartyId, number>

  /** `known` are parties that the reader knows as well. */
  constructor(known: readonly PartyId[] = []) {
    super()
    this.#parties = new Map(known.map((party, index) => [party, index + 1]))
  }

  unsignedBig(value: bigint): void {
    let rest = value
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.byte(Number(rest))
  }

  override text(value: string): void {
    const prefix = PREFIXES.findLastIndex((each) => value.startsWith(each))
    const begin = PREFIXES[prefix]?.length ?? 0
    const suffix = SUFFIXES.findLastIndex(
      (each) => value.length >= begin + each.length && value.endsWith(each),
    )
    const bytes = utf8(value.slice(begin, value.length - (SUFFIXES[suffix]?.length ?? 0)))
    // One byte suffices for most texts, which have no affix or are short.
    this.unsigned(bytes.byteLength * 2 + (prefix + suffix > 0 ? 1 : 0))
    if (prefix + suffix > 0) this.unsigned(prefix * SUFFIXES.length + suffix)
    this.raw(bytes)
  }

  contractId(id: ContractId): void {
    this.hex(id.slice(2))
  }

  /** 0 and the party the first time, then its number. */
  party(party: PartyId): void {
    const number = this.#parties.get(party)
    this.unsigned(number ?? 0)
    if (number !== undefined) return
    this.#parties.set(party, this.#parties.size + 1)
    this.text(party.slice(0, -(PARTICIPANT_DIGITS + PARTY_JOINT.length)))
    this.hex(party.slice(-PARTICIPANT_DIGITS))
  }
}

export class PackReader extends ByteReader {
  readonly #parties: PartyId[]

  constructor(bytes: Uint8Array, known: readonly PartyId[] = []) {
    super(bytes)
    this.#parties = [...known]
  }

  unsignedBig(): bigint {
    let value = 0n
    // Seven bytes at a time: more would exceed a safe integer.
    for (let shift = 0n; ; shift += 49n) {
      let part = 0
      for (let index = 0, factor = 1; index < 7; index++, factor *= 0x80) {
        const byte = this.byte()
        part += (byte & 0x7f) * factor
        if (byte < 0x80) return value | (BigInt(part) << shift)
      }
      value |= BigInt(part) << shift
    }
  }

  override text(): string {
    const head = this.unsigned()
    const affixes = head % 2 === 1 ? this.unsigned() : 0
    const prefix = PREFIXES[Math.floor(affixes / SUFFIXES.length)]
    const suffix = SUFFIXES[affixes % SUFFIXES.length]
    return `${prefix}${this.utf8(Math.floor(head / 2))}${suffix}`
  }

  contractId(): ContractId {
    return `00${this.hex(HASH_BYTES)}`
  }

  party(): PartyId {
    const number = this.unsigned()
    if (number === 0) this.#parties.push(`${this.text()}${PARTY_JOINT}${this.hex(HASH_BYTES)}`)
    const party = this.#parties.at(number - 1)
    assert(party !== undefined, 'a party is named before it is referred to')
    return party
  }
}

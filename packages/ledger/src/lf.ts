/**
 * Daml-LF types as values: each decodes Daml-LF JSON strictly into a native value and encodes it
 * canonically (D-4: times with six digits, decimals with ten). Package ids are hashes of the
 * descriptors (D-31). Decimals are bigints scaled by 10^10; instants and durations are µs.
 */

import {
  type Amount,
  type ContractId,
  type DamlValue,
  formatAmount,
  isPartyId,
  type Micros,
  type PartyId,
  parseAmount,
  parseTime,
} from '@quorumscan/model'
import type { Json } from '@quorumscan/verifier'
import { formatInstant, LONE_SURROGATE } from '@quorumscan/verifier'
import type { PackReader, PackWriter } from './packing.ts'

/** A value that does not fit its type. `path` leads to it from the outermost value. */
export class LfError extends Error {
  override readonly name = 'LfError'
  readonly path: string
  readonly problem: string

  constructor(problem: string, path = '') {
    super(path === '' ? problem : `${path}: ${problem}`)
    this.problem = problem
    this.path = path
  }
}

/** One Daml-LF type whose native form is `T`. */
export interface Lf<T> {
  /** The description of the type. Package ids are its hashes, and other layers read the form of values from it. */
  readonly descriptor: Json
  /** Members of a record of this type may be left out, and are then `absent`. */
  readonly absent?: T
  /**
   * @param contractIds - Collects every contract id inside the value.
   * @throws {LfError} If the value is not exactly of this type.
   */
  decode(value: unknown, contractIds: ContractId[]): T
  /**
   * Members in canonical order, so that `JSON.stringify` of the result is its canonical JSON.
   *
   * @throws {LfError} If a decimal or an instant is out of range.
   */
  encode(value: T): DamlValue
  /** The stored form: bytes that only this type can read back. */
  pack(value: T, writer: PackWriter): void
  unpack(reader: PackReader): T
}

/** The native form of a type. */
export type LfValue<L> = L extends Lf<infer T> ? T : never

const CONTRACT_ID = /^00[0-9a-f]{64}$/
const INT = /^(?:0|-?[1-9][0-9]{0,15})$/
/** Upper bound of Decimal, scaled. */
const DECIMAL_MAX = 10n ** 38n

function asText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new LfError(`${what} is a JSON string`)
  return value
}

export const text: Lf<string> = {
  descriptor: 'Text',
  decode(value) {
    const decoded = asText(value, 'a Text')
    if (LONE_SURROGATE.test(decoded)) throw new LfError('a Text has no lone surrogates')
    return decoded
  },
  encode: (value) => value,
  pack: (value, writer) => writer.text(value),
  unpack: (reader) => reader.text(),
}

export const party: Lf<PartyId> = {
  descriptor: 'Party',
  decode(value) {
    if (!isPartyId(value)) throw new LfError('a Party is <hint>::1220<64 hex digits>')
    return value
  },
  encode: (value) => value,
  pack: (value, writer) => writer.party(value),
  unpack: (reader) => reader.party(),
}

export const contractId: Lf<ContractId> = {
  descriptor: 'ContractId',
  decode(value, contractIds) {
    const decoded = asText(value, 'a ContractId')
    if (!CONTRACT_ID.test(decoded)) throw new LfError('a ContractId is 00 and 64 hex digits')
    contractIds.push(decoded)
    return decoded
  },
  encode: (value) => value,
  pack: (value, writer) => writer.contractId(value),
  unpack: (reader) => reader.contractId(),
}

export const decimal: Lf<Amount> = {
  descriptor: 'Decimal',
  decode(value) {
    const decoded = parseAmount(asText(value, 'a Decimal'))
    if (decoded === undefined)
      throw new LfError('a Decimal has at most 28 digits before and 10 after the point')
    return decoded
  },
  encode(value) {
    if (value >= DECIMAL_MAX || value <= -DECIMAL_MAX) throw new LfError('a Decimal overflows')
    return formatAmount(value)
  },
  // Zigzag: the sign goes to the lowest bit.
  pack: (value, writer) => writer.unsignedBig(value < 0n ? -2n * value - 1n : 2n * value),
  unpack(reader) {
    const zigzag = reader.unsignedBig()
    return zigzag % 2n === 0n ? zigzag / 2n : -(zigzag + 1n) / 2n
  },
}

/** Int64 on the wire; we use and accept safe integers only. */
export const int: Lf<number> = {
  descriptor: 'Int',
  decode(value) {
    const decoded = asText(value, 'an Int')
    const number = Number(decoded)
    if (!INT.test(decoded) || !Number.isSafeInteger(number))
      throw new LfError('an Int is a decimal integer below 2^53')
    return number
  },
  encode(value) {
    if (!Number.isSafeInteger(value)) throw new LfError('an Int is below 2^53')
    return String(value)
  },
  pack: (value, writer) => decimal.pack(BigInt(value), writer),
  unpack: (reader) => Number(decimal.unpack(reader)),
}

export const time: Lf<Micros> = {
  descriptor: 'Time',
  decode(value) {
    const decoded = parseTime(asText(value, 'a Time'))
    if (decoded === undefined) throw new LfError('a Time is ISO-8601 UTC with Z, from 1970 to 2255')
    return decoded
  },
  encode(value) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new LfError('a Time lies between 1970 and 2255')
    return formatInstant(value)
  },
  pack: (value, writer) => writer.unsigned(value),
  unpack: (reader) => reader.unsigned(),
}

export const bool: Lf<boolean> = {
  descriptor: 'Bool',
  decode(value) {
    if (typeof value !== 'boolean') throw new LfError('a Bool is true or false')
    return value
  },
  encode: (value) => value,
  pack: (value, writer) => writer.unsigned(value ? 1 : 0),
  unpack: (reader) => reader.unsigned() === 1,
}

export const unit: Lf<Record<string, never>> = {
  descriptor: 'Unit',
  decode(value) {
    if (!isObject(value) || Object.keys(value).length > 0) throw new LfError('a Unit is {}')
    return {}
  },
  encode: () => ({}),
  pack: () => {},
  unpack: () => ({}),
}

/** JSON null and a missing member mean None. */
export function optional<T>(of: Lf<T>): Lf<T | null> {
  return {
    descriptor: { optional: of.descriptor },
    absent: null,
    decode: (value, contractIds) =>
      value === null || value === undefined ? null : of.decode(value, contractIds),
    encode: (value) => (value === null ? null : of.encode(value)),
    pack(value, writer) {
      writer.unsigned(value === null ? 0 : 1)
      if (value !== null) of.pack(value, writer)
    },
    unpack: (reader) => (reader.unsigned() === 0 ? null : of.unpack(reader)),
  }
}

export function list<T>(of: Lf<T>): Lf<readonly T[]> {
  return {
    descriptor: { list: of.descriptor },
    decode(value, contractIds) {
      if (!Array.isArray(value)) throw new LfError('a List is a JSON array')
      return value.map((item, index) => within(`[${index}]`, () => of.decode(item, contractIds)))
    },
    encode: (value) => value.map((item) => of.encode(item)),
    pack(value, writer) {
      writer.unsigned(value.length)
      for (const item of value) of.pack(item, writer)
    },
    unpack: (reader) => Array.from({ length: reader.unsigned() }, () => of.unpack(reader)),
  }
}

type Fields = { readonly [field: string]: Lf<unknown> }
type RecordOf<F extends Fields> = { readonly [K in keyof F]: LfValue<F[K]> }

/** Members in any order; a missing one is an error unless optional, an unknown one unless null. */
export function record<F extends Fields>(name: string, fields: F): Lf<RecordOf<F>> {
  const entries = Object.entries(fields)
  const canonical = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    descriptor: { record: name, fields: entries.map(([field, of]) => [field, of.descriptor]) },
    decode(value, contractIds) {
      if (!isObject(value)) throw new LfError(`a ${name} is a JSON object`)
      const decoded: Record<string, unknown> = {}
      let found = 0
      for (const [field, of] of entries) {
        if (Object.hasOwn(value, field)) {
          found++
          try {
            decoded[field] = of.decode(value[field], contractIds)
          } catch (error) {
            throw prefixed(field, error)
          }
        } else if (of.absent !== undefined) decoded[field] = of.absent
        else throw new LfError('is missing', field)
      }
      if (found < Object.keys(value).length)
        for (const key of Object.keys(value))
          if (!Object.hasOwn(fields, key) && value[key] !== null)
            throw new LfError(`is no member of ${name}`, key)
      return decoded as RecordOf<F>
    },
    encode(value) {
      const encoded: Record<string, DamlValue> = {}
      for (const [field, of] of canonical) encoded[field] = of.encode(value[field])
      return encoded
    },
    pack(value, writer) {
      for (const [field, of] of entries) of.pack(value[field], writer)
    },
    unpack(reader) {
      const unpacked: Record<string, unknown> = {}
      for (const [field, of] of entries) unpacked[field] = of.unpack(reader)
      return unpacked as RecordOf<F>
    },
  }
}

type VariantOf<C extends Fields> = {
  readonly [K in keyof C & string]: { readonly tag: K; readonly value: LfValue<C[K]> }
}[keyof C & string]

export function variant<C extends Fields>(name: string, cases: C): Lf<VariantOf<C>> {
  const tags = Object.keys(cases)
  const caseOf = (tag: unknown): Lf<unknown> => {
    const found = typeof tag === 'string' && Object.hasOwn(cases, tag) ? cases[tag] : undefined
    if (found === undefined) throw new LfError(`is no constructor of ${name}`, 'tag')
    return found
  }
  return {
    descriptor: {
      variant: name,
      cases: Object.entries(cases).map(([tag, of]) => [tag, of.descriptor]),
    },
    decode(value, contractIds) {
      if (!isObject(value) || Object.keys(value).length !== 2 || !Object.hasOwn(value, 'value'))
        throw new LfError(`a ${name} is {tag, value}`)
      const { tag } = value
      const decoded = within('value', () => caseOf(tag).decode(value['value'], contractIds))
      return { tag, value: decoded } as VariantOf<C>
    },
    encode: (value) => ({ tag: value.tag, value: caseOf(value.tag).encode(value.value) }),
    pack(value, writer) {
      writer.unsigned(tags.indexOf(value.tag))
      caseOf(value.tag).pack(value.value, writer)
    },
    unpack(reader) {
      const tag = tags[reader.unsigned()]
      return { tag, value: caseOf(tag).unpack(reader) } as VariantOf<C>
    },
  }
}

export function enumeration<const V extends string>(name: string, values: readonly V[]): Lf<V> {
  return {
    descriptor: { enum: name, values },
    decode(value) {
      const found = values.find((known) => known === value)
      if (found === undefined) throw new LfError(`a ${name} is one of ${values.join(', ')}`)
      return found
    },
    encode: (value) => value,
    pack: (value, writer) => writer.unsigned(values.indexOf(value)),
    unpack: (reader) => values[reader.unsigned()] as V,
  }
}

/** A duration: `{"microseconds": "…"}`. */
export const relTime: Lf<Micros> = (() => {
  const wire = record('RelTime', { microseconds: int })
  return {
    descriptor: 'RelTime',
    decode: (value, contractIds) => wire.decode(value, contractIds).microseconds,
    encode: (value) => wire.encode({ microseconds: value }),
    pack: int.pack,
    unpack: int.unpack,
  } satisfies Lf<Micros>
})()

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function within<T>(step: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw prefixed(step, error)
  }
}

function prefixed(step: string, error: unknown): unknown {
  if (!(error instanceof LfError)) return error
  const joint = error.path === '' || error.path.startsWith('[') ? '' : '.'
  return new LfError(error.problem, `${step}${joint}${error.path}`)
}

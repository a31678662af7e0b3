/**
 * Values as clients of the ledger interface write them, turned into the canonical form that submissions
 * carry (docs/upstream.md §L4.3): numbers for decimals, times with an offset, ints with a sign, any JSON for unit.
 * Limits hold for values, not for the texts that write them. The descriptors define the types.
 */

import { type DamlValue, formatAmount, isPartyId, readAmount, readInteger } from '@quorumscan/model'
import type { Json } from '@quorumscan/verifier'
import { formatInstant, LONE_SURROGATE } from '@quorumscan/verifier'
import type { Lf } from './lf.ts'
import { isZonedTime, parseZonedTime } from './zoned-time.ts'

/** A value that does not fit. The codes are those of the ledger interface (docs/upstream.md §L4.3). */
export class ValueInputError extends Error {
  override readonly name = 'ValueInputError'
  readonly code: 'COMMAND_PREPROCESSING_FAILED' | 'INVALID_ARGUMENT'

  constructor(code: ValueInputError['code'], path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`)
    this.code = code
  }
}

type Fields = readonly (readonly [name: string, descriptor: Json])[]
type Descriptor =
  | string
  | { readonly optional: Json }
  | { readonly list: Json }
  | { readonly record: string; readonly fields: Fields }
  | { readonly variant: string; readonly cases: Fields }
  | { readonly enum: string; readonly values: readonly string[] }

/** Digits of a JSON number that a double holds for certain; longer ones must be sent as strings. */
const NUMBER_DIGITS_MAX = 15
const DECIMAL = /^[+-]?[0-9]+(?:\.[0-9]*)?$/
const CONTRACT_ID = /^00[0-9a-f]{64}$/

/**
 * The value in the form that `type.decode` takes.
 *
 * @throws {ValueInputError} COMMAND_PREPROCESSING_FAILED for a member that is missing and for a number or time that its
 *   type cannot hold, INVALID_ARGUMENT for everything else; the message has the path.
 */
export function readValueInput(type: Lf<unknown>, value: unknown): DamlValue {
  return read(type.descriptor, value, '')
}

function read(descriptor: Json, value: unknown, path: string): DamlValue {
  // Descriptors are written by `lf.ts` alone.
  const type = descriptor as Descriptor
  if (typeof type === 'string') return readPrimitive(type, value, path)
  if ('optional' in type)
    return value === null || value === undefined ? null : read(type.optional, value, path)
  if ('list' in type) {
    if (!Array.isArray(value)) refuse(path, 'a List is a JSON array')
    return value.map((item, index) => read(type.list, item, `${path}[${index}]`))
  }
  if ('record' in type) return readRecord(type, value, path)
  if ('variant' in type) return readVariant(type, value, path)
  if (typeof value !== 'string' || !type.values.includes(value))
    refuse(path, `a ${type.enum} is one of ${type.values.join(', ')}`)
  return value
}

function readRecord(
  type: { readonly record: string; readonly fields: Fields },
  value: unknown,
  path: string,
): DamlValue {
  if (!isObject(value)) refuse(path, `a ${type.record} is a JSON object`)
  const missing = type.fields
    .filter(([field, of]) => !Object.hasOwn(value, field) && !isOptional(of))
    .map(([field]) => field)
  if (missing.length > 0)
    throw new ValueInputError(
      'COMMAND_PREPROCESSING_FAILED',
      path,
      `missing members of ${type.record}: ${missing.join(', ')}`,
    )
  const known = new Set(type.fields.map(([field]) => field))
  for (const [member, given] of Object.entries(value))
    if (!known.has(member) && given !== null)
      refuse(path, `${JSON.stringify(member)} is no member of ${type.record}`)
  return Object.fromEntries(
    type.fields.map(([field, of]) => [
      field,
      read(of, Object.hasOwn(value, field) ? value[field] : null, join(path, field)),
    ]),
  )
}

function readVariant(
  type: { readonly variant: string; readonly cases: Fields },
  value: unknown,
  path: string,
): DamlValue {
  if (!isObject(value) || !Object.hasOwn(value, 'tag') || !Object.hasOwn(value, 'value'))
    refuse(path, `a ${type.variant} is {tag, value}`)
  const found = type.cases.find(([tag]) => tag === value['tag'])
  if (found === undefined)
    refuse(join(path, 'tag'), `a ${type.variant} is ${type.cases.map(([tag]) => tag).join(', ')}`)
  return { tag: found[0], value: read(found[1], value['value'], join(path, 'value')) }
}

function readPrimitive(type: string, value: unknown, path: string): DamlValue {
  switch (type) {
    case 'Unit':
      return {}
    case 'Bool':
      return typeof value === 'boolean' ? value : refuse(path, 'a Bool is true or false')
    case 'Decimal':
      return readDecimal(value, path)
    case 'RelTime':
      return readRecord(RELATIVE_TIME, value, path)
    default: {
      if (typeof value !== 'string') refuse(path, `a value of type ${type} is a JSON string`)
      return readText(type, value, path)
    }
  }
}

const RELATIVE_TIME = { record: 'RelTime', fields: [['microseconds', 'Int']] } as const

function readText(type: string, value: string, path: string): DamlValue {
  switch (type) {
    case 'Int':
      return readInt(value, path)
    case 'Party':
      return isPartyId(value) ? value : refuse(path, 'a Party is <hint>::1220<64 hex digits>')
    case 'ContractId':
      return CONTRACT_ID.test(value) ? value : refuse(path, 'a ContractId is 00 and 64 hex digits')
    case 'Time': {
      const instant = parseZonedTime(value)
      if (instant !== undefined) return formatInstant(instant)
      const rule = 'a Time is ISO-8601 with zone, from 1970 to 2255'
      return isZonedTime(value) ? doesNotFit(path, rule) : refuse(path, rule)
    }
    default:
      return LONE_SURROGATE.test(value) ? refuse(path, 'a Text has no lone surrogates') : value
  }
}

function readInt(value: string, path: string): DamlValue {
  const integer = readInteger(value)
  if (integer === undefined) refuse(path, 'an Int is decimal digits')
  if (integer === null || !Number.isSafeInteger(Number(integer)))
    doesNotFit(path, 'an Int is below 2^53')
  return integer.toString()
}

function readDecimal(value: unknown, path: string): DamlValue {
  const text = typeof value === 'number' ? numberText(value) : value
  // An integer that a double does not hold is read as a bigint.
  const written = typeof text === 'bigint' ? text.toString() : text
  if (typeof written !== 'string' || !DECIMAL.test(written))
    refuse(path, `a Decimal is a string, or a number of at most ${NUMBER_DIGITS_MAX} digits`)
  const amount = readAmount(written)
  if (amount === undefined)
    doesNotFit(path, 'a Decimal has at most 28 digits before and 10 after the point')
  return formatAmount(amount)
}

/** JSON numbers arrive as doubles: one with more digits may differ from the number that the client sent. */
function numberText(value: number): string | null {
  const text = String(value)
  // Below 10^-6 a double prints with an exponent, though ten digits after the point are allowed.
  const plain = text.includes('e-') ? value.toFixed(10) : text
  if (Number(plain) !== value) return null
  const digits = plain.replace(/[-.]/g, '').replace(/^0+/, '')
  return digits.length <= NUMBER_DIGITS_MAX ? plain : null
}

function isOptional(descriptor: Json): boolean {
  return typeof descriptor === 'object' && descriptor !== null && 'optional' in descriptor
}

function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function join(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}

/** For a value of the type that the type cannot hold. */
function doesNotFit(path: string, problem: string): never {
  throw new ValueInputError('COMMAND_PREPROCESSING_FAILED', path, problem)
}

function refuse(path: string, problem: string): never {
  throw new ValueInputError('INVALID_ARGUMENT', path, problem)
}

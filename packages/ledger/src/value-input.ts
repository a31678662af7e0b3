/**
 * Values as clients of the ledger interface write them, turned into the canonical form that submissions
 * carry (docs/upstream.md §L4.3): numbers for decimals, times with an offset, ints with a sign, any JSON for unit.
 * The descriptors define the types. `Lf.decode` later checks the range of a value.
 */

import { type DamlValue, formatAmount, isPartyId, parseAmount } from '@quorumscan/model'
import type { Json } from '@quorumscan/verifier'
import { formatInstant as formatTime, LONE_SURROGATE } from '@quorumscan/verifier'
import type { Lf } from './lf.ts'
import { parseZonedTime } from './zoned-time.ts'

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
const DECIMAL = /^([+-]?)([0-9]{1,38})(?:\.([0-9]{0,37}))?$/
const INT = /^[+-]?[0-9]{1,19}$/
const CONTRACT_ID = /^00[0-9a-f]{64}$/

/**
 * The value in the form that `type.decode` takes.
 *
 * @throws {ValueInputError} COMMAND_PREPROCESSING_FAILED for a member that is missing, INVALID_ARGUMENT for
 *   everything else; the message has the path.
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
      return INT.test(value) ? BigInt(value).toString() : refuse(path, 'an Int is decimal digits')
    case 'Party':
      return isPartyId(value) ? value : refuse(path, 'a Party is <hint>::1220<64 hex digits>')
    case 'ContractId':
      return CONTRACT_ID.test(value) ? value : refuse(path, 'a ContractId is 00 and 64 hex digits')
    case 'Time': {
      const instant = parseZonedTime(value)
      if (instant === undefined) refuse(path, 'a Time is ISO-8601 with zone, from 1970 to 2255')
      return formatTime(instant)
    }
    default:
      return LONE_SURROGATE.test(value) ? refuse(path, 'a Text has no lone surrogates') : value
  }
}

function readDecimal(value: unknown, path: string): DamlValue {
  const text = typeof value === 'number' ? numberText(value) : value
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  if (match === null)
    refuse(path, `a Decimal is a string, or a number of at most ${NUMBER_DIGITS_MAX} digits`)
  const [, sign, integer = '', fraction = ''] = match
  const digits = integer.replace(/^0+(?=[0-9])/, '')
  const amount = parseAmount(
    `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}`,
  )
  if (amount === undefined)
    refuse(path, 'a Decimal has at most 28 digits before and 10 after the point')
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

function refuse(path: string, problem: string): never {
  throw new ValueInputError('INVALID_ARGUMENT', path, problem)
}

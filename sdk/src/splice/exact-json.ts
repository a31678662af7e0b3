/** JSON of answers that are compared by value: no number is rounded, and the order of JSON fields does not matter. */
import { endOfString, parseStrictJson } from '@quorumscan/verifier'

/** A value of JSON. A number that JavaScript cannot hold exactly comes as the text of its digits. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject

/** An object of JSON. */
export type JsonObject = { readonly [member: string]: JsonValue }

/** Bounds of recursion. Contracts are a few levels deep. */
const BOUNDS = { depthMax: 100, valuesMax: 1_000_000 }
/** No amount, round or token is as long. It bounds the work for each number. */
const NUMBER_LENGTH_MAX = 100

const NUMBER = /-?\d[\d.eE+-]*/y
const COLON = /\s*:/y
const NUMBER_OF_JSON = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** Integers with so few digits are exact. Most numbers match. */
const SMALL = /^-?\d{1,15}$/
const [QUOTE, MINUS, ZERO, NINE] = [0x22, 0x2d, 0x30, 0x39]

/**
 * Parses an answer.
 *
 * @throws {SyntaxError} If it is not JSON, or an object in it has a duplicate or `__proto__` member.
 * @throws {RangeError} If it is too deep, has too many values, or a number in it is too long.
 */
export function parseExactJson(text: string): JsonValue {
  return parseStrictJson(quoteInexact(text), BOUNDS) as JsonValue // It creates no other values.
}

/** The canonical text of a value, independent of the order of JSON fields. */
export function canonicalText(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) => (isObject(inner) ? sorted(inner) : inner))
}

/** Whether it is an object, and neither an array nor null. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; none of other values. */
export function membersOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** undefined if the value is not a text. */
export function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** undefined if any member is undefined. */
export function whole<T extends object>(
  parts: {
    readonly [Name in keyof T]: T[Name] | undefined
  },
): T | undefined {
  return Object.values(parts).includes(undefined) ? undefined : (parts as T)
}

/** undefined if the value is not a list, or any item cannot be read. */
export function readAll<T>(
  values: JsonValue | undefined,
  read: (value: JsonValue) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(values)) return undefined
  const all = values.map(read)
  return all.includes(undefined) ? undefined : (all as T[])
}

function sorted(value: JsonObject): JsonObject {
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, value[name] as JsonValue]))
}

/** Quotes numbers that would lose digits when they are parsed. */
function quoteInexact(text: string): string {
  let quoted = ''
  let copiedTo = 0
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = endOfString(text, index)
    else if (character === MINUS || (character >= ZERO && character <= NINE)) {
      NUMBER.lastIndex = index
      const [number = ''] = NUMBER.exec(text) ?? []
      if (number.length > NUMBER_LENGTH_MAX) throw new RangeError('a number that is too long')
      if (isInexact(number)) {
        quoted += `${text.slice(copiedTo, index)}"${number}"`
        copiedTo = index + number.length
        // In quotation marks it would be the name of a member.
        COLON.lastIndex = copiedTo
        if (COLON.test(text)) throw new SyntaxError('a number in place of the name of a member')
      }
      index += Math.max(number.length - 1, 0)
    }
  }
  return quoted + text.slice(copiedTo)
}

/** Whether a JSON number would lose digits. The parser refuses other texts. */
function isInexact(number: string): boolean {
  if (SMALL.test(number)) return false
  const decimal = decimalOf(number)
  return decimal !== undefined && decimal !== decimalOf(String(Number(number)))
}

/** One text for all spellings of a number: sign, significant digits, power of ten. */
function decimalOf(number: string): string | undefined {
  const parts = NUMBER_OF_JSON.exec(number)
  if (parts === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return `${sign}${significant}e${power}`
}

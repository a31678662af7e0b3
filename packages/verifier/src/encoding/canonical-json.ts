/**
 * RFC 8785 (JCS) for the values that we hash and sign: no floats, only safe integers, so that the
 * number rules of the RFC reduce to decimal digits.
 */
import { LONE_SURROGATE } from './lone-surrogate.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/** T if it is made of JSON values: an object may have any type whose members are JSON, with or without an index signature. */
type JsonLike<T> = T extends Json
  ? T
  : T extends bigint | symbol | undefined | ((...values: never) => unknown)
    ? never
    : { readonly [Member in keyof T]: JsonLike<T[Member]> }

/**
 * The canonical text: members sorted by UTF-16 code units, no white space.
 *
 * @throws {RangeError} If a number is not a safe integer, or a text has a lone surrogate.
 * @throws {TypeError} If a value is not JSON, which its type excludes.
 */
export function canonicalJson<T>(value: T & JsonLike<T>): string {
  return canonicalText(value)
}

function canonicalText(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer')
    return String(value)
  }
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object') throw new TypeError('not a value of JSON')
  const record = value as { readonly [key: string]: unknown }
  const members = Object.keys(record)
    .sort()
    .map((key) => `${canonicalString(key)}:${canonicalText(record[key])}`)
  return `{${members.join(',')}}`
}

function canonicalString(text: string): string {
  // JSON.stringify escapes exactly what RFC 8785 wants escaped, but writes lone surrogates as \\udXXX.
  if (LONE_SURROGATE.test(text)) throw new RangeError('lone surrogate')
  return JSON.stringify(text)
}

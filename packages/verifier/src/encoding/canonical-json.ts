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

/**
 * The canonical text: members sorted by UTF-16 code units, no white space.
 *
 * @throws {RangeError} If a number is not a safe integer, or a text has a lone surrogate.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer')
    return String(value)
  }
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const record = value as { readonly [key: string]: Json }
  const members = Object.keys(record)
    .sort()
    .map((key) => `${canonicalString(key)}:${canonicalJson(record[key] as Json)}`)
  return `{${members.join(',')}}`
}

function canonicalString(text: string): string {
  // JSON.stringify escapes exactly what RFC 8785 wants escaped, but writes lone surrogates as \\udXXX.
  if (LONE_SURROGATE.test(text)) throw new RangeError('lone surrogate')
  return JSON.stringify(text)
}

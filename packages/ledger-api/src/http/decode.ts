/**
 * Lenient decoding of what `/v2` is sent (docs/upstream.md §L1.1), by walking through the
 * schema: missing members get their default, unknown ones are left out, an integer may be a text.
 * Each schema is compiled to a function once.
 */
import { LedgerDecodeError } from '@quorumscan/errors'
import { readInteger } from '@quorumscan/model'
import type { TSchema } from 'typebox'

type Decode = (value: unknown, path: string) => unknown

/** The part of JSON Schema that the building blocks in `packages/api` make use of. */
type Schema = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly pattern?: string
  readonly format?: string
  readonly default?: unknown
}

/** Bounds of int64 and int32. A number outside them does not decode. */
const RANGES: Readonly<Record<string, readonly [min: bigint, max: bigint]>> = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
}

/**
 * A function that decodes by the schema.
 *
 * @param part - What paths begin with: `body`, or the name of a query parameter.
 * @throws {LedgerDecodeError} (the function) With the path of the first member that does not decode.
 */
export function compileDecoder(schema: TSchema, part: string): (value: unknown) => unknown {
  const decode = compile(schema as Schema)
  return (value) => decode(value, part)
}

function compile(schema: Schema): Decode {
  if (schema.anyOf !== undefined) return compileOneOf(schema.anyOf)
  if (schema.enum !== undefined) return compileEnum(schema.enum)
  switch (schema.type) {
    case 'object':
      return schema.patternProperties === undefined ? compileObject(schema) : compileMap(schema)
    case 'array':
      return compileArray(schema.items ?? {})
    case 'string':
      return compileText(schema)
    case 'integer':
      return compileInteger(schema.format ?? 'int64')
    case 'boolean':
      return (value, path) => (typeof value === 'boolean' ? value : refuse(path, 'a boolean'))
    default:
      return (value) => value
  }
}

function compileObject({ properties = {}, required = [] }: Schema): Decode {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    decode: compile(schema),
    fallback: schema.default,
    isRequired: required.includes(name),
    hasDefault: schema.default !== undefined,
  }))
  return (value, path) => {
    const object = asObject(value, path)
    const decoded: Record<string, unknown> = {}
    for (const { name, decode, fallback, isRequired, hasDefault } of members) {
      const member = Object.hasOwn(object, name) ? object[name] : undefined
      if (member === undefined && isRequired)
        throw new LedgerDecodeError(`${path}.${name}: is missing`)
      // Null is as good as nothing for what may be missing.
      const isAbsent = member === undefined || (member === null && !isRequired)
      if (!isAbsent) decoded[name] = decode(member, `${path}.${name}`)
      else if (hasDefault) decoded[name] = fallback
    }
    return decoded
  }
}

function compileMap({ patternProperties = {} }: Schema): Decode {
  const [of = {}] = Object.values(patternProperties)
  const decode = compile(of)
  return (value, path) => {
    const entries = Object.entries(asObject(value, path))
    const place = (key: string) => `${path}.${key.slice(0, KEY_SHOWN_MAX)}`
    return Object.fromEntries(entries.map(([key, member]) => [key, decode(member, place(key))]))
  }
}

/** Characters of a client's own key in a path: enough to find it. */
const KEY_SHOWN_MAX = 100

function compileArray(items: Schema): Decode {
  const decode = compile(items)
  return (value, path) =>
    Array.isArray(value)
      ? value.map((item, index) => decode(item, `${path}[${index}]`))
      : refuse(path, 'an array')
}

function compileOneOf(branches: readonly Schema[]): Decode {
  const byName = new Map(
    branches.flatMap(({ properties = {} }) =>
      Object.entries(properties).map(([name, schema]) => [name, compile(schema)] as const),
    ),
  )
  const expected = `an object with exactly one of ${[...byName.keys()].join(', ')}`
  return (value, path) => {
    const [entry, ...others] = Object.entries(asObject(value, path))
    const decode = entry === undefined ? undefined : byName.get(entry[0])
    if (entry === undefined || decode === undefined || others.length > 0)
      return refuse(path, expected)
    const [name, member] = entry
    return { [name]: decode(member, `${path}.${name}`) }
  }
}

function compileEnum(values: readonly string[]): Decode {
  const expected = `one of ${values.join(', ')}`
  return (value, path) => (values.includes(value as string) ? value : refuse(path, expected))
}

/** A pattern without a format is the operation's to refuse, with a code of its own. */
function compileText({ pattern, format }: Schema): Decode {
  const form = pattern === undefined || format === undefined ? null : new RegExp(pattern, 'u')
  return (value, path) => {
    if (typeof value !== 'string') return refuse(path, 'a string')
    if (form !== null && !form.test(value)) return refuse(path, `of the form ${pattern}`)
    return value
  }
}

function compileInteger(format: string): Decode {
  const [min, max] = RANGES[format] ?? [0n, 0n]
  return (value, path) => {
    const integer = integerOf(value)
    if (integer === undefined) return refuse(path, 'an integer')
    if (integer === null || integer < min || integer > max) return refuse(path, `within ${format}`)
    const number = Number(integer)
    return Number.isSafeInteger(number) ? number : integer
  }
}

/** Undefined for what is no integer; null for a text of more digits than any integer of a schema has. */
function integerOf(value: unknown): bigint | null | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined
  return typeof value === 'string' ? readInteger(value) : undefined
}

function asObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(path, 'an object')
}

function refuse(path: string, expected: string): never {
  throw new LedgerDecodeError(`${path}: must be ${expected}`)
}

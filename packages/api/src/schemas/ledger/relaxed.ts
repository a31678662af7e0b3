/**
 * Building blocks of bodies under `/v2`, which decode leniently (docs/upstream.md §L1.1):
 *
 * - a member that is not `Type.Optional` is required;
 * - one made with `defaulted` has a value when it is missing or null;
 * - a plain optional one is undefined when it is missing or null;
 * - `oneOf` is an object with exactly one member, named by the variant;
 * - unknown members are ignored;
 * - what is no more than a constraint (a length, a bound, a pattern of a text without `format`) is refused by the
 *   operation, with a code of its own, and is in the schema for the document.
 *
 * `compileDecoder` of `packages/ledger-api` makes the decoder from the schema; the document shows the same schema.
 */
import { type Static, type TSchema, Type } from 'typebox'
import * as m from '../members.ts'

/** A member with a default value. For TypeScript it always exists, as it does once decoded. */
export function defaulted<Schema extends TSchema>(schema: Schema, value: Static<Schema>): Schema {
  return Type.Optional(m.extended(schema, { default: value }) as TSchema) as unknown as Schema
}

/** A member that decodes without it, so that the operation can refuse that with a code of its own. */
export function needed<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Optional(m.extended(m.about(schema, description), { [m.NEEDED]: true }))
}

/** int64 in JSON: a number, or its digits as text. Decoded exactly: beyond 2^53 to a bigint. */
export const Int64 = Type.Unsafe<number | bigint>(Type.Integer({ format: 'int64' }))
export const Int32 = Type.Integer({ format: 'int32' })

/** A text; an empty one if it is missing. */
export const text = (description: string, constraints: object = {}) =>
  defaulted(Type.String({ description, ...constraints }), '')
export const bool = (description: string) => defaulted(m.boolean(description), false)
/** An integer that is 0 where it is missing. */
export const int64 = (description: string, constraints: object = {}) =>
  defaulted(m.extended(Int64, { description, ...constraints }), 0)

export function list<Item extends TSchema>(item: Item, description: string, constraints = {}) {
  return defaulted(Type.Array(item, { description, ...constraints }), [] as Static<Item>[] as never)
}

type Variants = { readonly [variant: string]: TSchema }
type OneOf<V extends Variants> = {
  [K in keyof V & string]: { [k in K]: Static<V[K]> }
}[keyof V & string]

/** An object with exactly one of the members. */
export function oneOf<const V extends Variants>(description: string, variants: V) {
  const objects = Object.entries(variants).map(([name, schema]) => Type.Object({ [name]: schema }))
  return Type.Unsafe<OneOf<V>>(m.either(description, objects))
}

/** The same, which the documents list under a name of its own. */
export function namedOneOf<const V extends Variants>(title: string, description: string, forms: V) {
  return m.extended(oneOf(description, forms), { title })
}

/** The wrapper of message-typed variants: `{"value": …}` (§L1.1). */
export function wrapped<Schema extends TSchema>(schema: Schema, description = 'The content.') {
  return Type.Object({ value: m.about(schema, description) })
}

/** `Empty` of a one-of. */
export const Empty = Type.Object({}, { description: 'Empty.' })

/** Exactly three parts; which form of the package is allowed is the operation's matter. */
export const Identifier = Type.String({
  format: 'identifier',
  pattern: '^[^:]+:[^:]+:[^:]+$',
  description: '`<package>:<Module.Path>:<Entity>`; a package by name is written `#<name>`.',
})

export const Base64 = Type.String({
  format: 'byte',
  pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  description: 'Standard Base64 with padding.',
})

/** ISO-8601 UTC; its fraction has 0, 3, 6 or 9 digits in answers. */
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO-8601; in answers UTC with 0, 3, 6 or 9 fractional digits.',
})

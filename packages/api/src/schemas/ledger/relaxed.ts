/**
 * Building blocks of bodies under `/v2`, which decode leniently (docs/upstream.md §L1.1):
 *
 * - a member that is not `Type.Optional` must be there;
 * - one made with `defaulted` has a value when it is missing or null;
 * - a plain optional one is undefined when it is missing or null;
 * - `oneOf` is an object with exactly one member, named by the variant;
 * - unknown members are ignored.
 *
 * `packages/http` decodes by walking through the schema; the document shows the same schema.
 */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'

/** A member with a value where it is missing. For TypeScript it is always there, as it is once decoded. */
export function defaulted<Schema extends TSchema>(schema: Schema, value: Static<Schema>): Schema {
  // A spread would lose the marks that TypeBox hides from enumeration.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  return Type.Optional(Object.assign(copy, { default: value }) as TSchema) as unknown as Schema
}

/** int64 in JSON: a number, or its digits as text. Decoded exactly: beyond 2^53 to a bigint. */
export const Int64 = Type.Unsafe<number | bigint>(Type.Integer({ format: 'int64' }))
export const describedInt64 = (description: string) =>
  Type.Unsafe<number | bigint>(Type.Integer({ format: 'int64', description }))
export const Int32 = Type.Integer({ format: 'int32' })

/** A text that is empty where it is missing. */
export const text = () => defaulted(Type.String(), '')
export const bool = () => defaulted(Type.Boolean(), false)
/** An integer that is 0 where it is missing. */
export const int64 = () => defaulted(Int64, 0)

export function list<Item extends TSchema>(item: Item) {
  return defaulted(Type.Array(item), [] as Static<Item>[] as never)
}

type Variants = { readonly [variant: string]: TSchema }
type OneOf<V extends Variants> = {
  [K in keyof V & string]: { [k in K]: Static<V[K]> }
}[keyof V & string]

/** An object with exactly one of the members. */
export function oneOf<const V extends Variants>(variants: V, title?: string): TUnsafe<OneOf<V>> {
  const objects = Object.entries(variants).map(([name, schema]) => Type.Object({ [name]: schema }))
  return Type.Unsafe(Type.Union(objects, title === undefined ? {} : { title }))
}

/** The wrapper of message-typed variants: `{"value": …}` (§L1.1). */
export function wrapped<Schema extends TSchema>(schema: Schema) {
  return Type.Object({ value: schema })
}

/** `Empty` of a one-of. */
export const Empty = Type.Object({})

/** `<package>:<Module.Path>:<Entity>`, exactly three parts; which package form is allowed is the operation's matter. */
export const Identifier = Type.String({ pattern: '^[^:]+:[^:]+:[^:]+$' })

/** Standard Base64 with padding. */
export const Base64 = Type.String({
  pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
})

/** An optional member of an answer: always there, null for nothing. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** ISO-8601 UTC; its fraction has 0, 3, 6 or 9 digits in answers. */
export const Timestamp = Type.String({ format: 'date-time' })

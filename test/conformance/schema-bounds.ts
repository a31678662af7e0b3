/** The bounds that a schema states: sizes of lists and texts, and ranges of integers, each with values on both sides. */
import { isDeepStrictEqual } from 'node:util'

/** The keywords of a schema that matter here. Those in `~about` are of the document alone, and the operation's matter. */
type Schema = {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly '~about'?: Partial<Schema>
}

/** A member with a bound. */
export type Bound = {
  /** Names of members; `0` is the first item of a list. */
  readonly path: readonly string[]
  readonly kind: 'items' | 'characters' | 'most' | 'least'
  readonly limit: number
  /** The member with this many items or characters, or this number. Undefined where none is known. */
  readonly make: (size: number, known: unknown, texts: Texts) => unknown
}

/** Texts that exist, by the pattern of their members: a party, for example. */
export type Texts = Readonly<Record<string, string>>

/** `^[a-z]{1,46}$`: characters of one class, with a largest number of them. */
const COUNTED = /^\^(\[(?:[^\]\\]|\\.)+\])\{([0-9]+),([0-9]+)\}\$$/

export function boundsOf(schema: object, path: readonly string[] = []): readonly Bound[] {
  const own = keywordsOf(schema)
  const bounds: Bound[] = []
  const add = (kind: Bound['kind'], limit: number, make: Bound['make']) =>
    bounds.push({ path, kind, limit, make })
  const number = (value: number) => value
  if (own.type === 'integer' && own.maximum !== undefined) add('most', own.maximum, number)
  if (own.type === 'integer' && own.minimum !== undefined) add('least', own.minimum, number)
  const items: Bound['make'] = (size, known, texts) => {
    const [first = sampleOf(own.items ?? {}, texts)] = Array.isArray(known) ? known : []
    return Array.from({ length: size }, () => structuredClone(first))
  }
  if (own.maxItems !== undefined) add('items', own.maxItems, items)
  const most = own.maxLength ?? Number(COUNTED.exec(own.pattern ?? '')?.[3] ?? Number.NaN)
  if (own.type === 'string' && !Number.isNaN(most))
    add('characters', most, (size, known) => textOf(own, size, known))
  for (const [name, member] of Object.entries(own.properties ?? {}))
    bounds.push(...boundsOf(member, [...path, name]))
  for (const form of own.anyOf ?? []) bounds.push(...boundsOf(form, path))
  if (own.items !== undefined) bounds.push(...boundsOf(own.items, [...path, '0']))
  return bounds.filter(
    (one, index) =>
      bounds.findIndex((other) => isDeepStrictEqual(keyOf(one), keyOf(other))) === index,
  )
}

function keyOf({ path, kind, limit }: Bound) {
  return { path, kind, limit }
}

/** The value with another member at the path; what is missing on the way is made as the schema requires. */
export function withMember(
  schema: object,
  value: unknown,
  change: { readonly bound: Bound; readonly size: number; readonly texts: Texts },
): unknown {
  const { bound, size, texts } = change
  const make = (known: unknown) => bound.make(size, known, texts)
  return withValue(keywordsOf(schema), value, { path: bound.path, make, texts })
}

function withValue(
  schema: Schema,
  value: unknown,
  change: {
    readonly path: readonly string[]
    readonly make: (known: unknown) => unknown
    readonly texts: Texts
  },
): unknown {
  const [name, ...path] = change.path
  if (name === undefined) return change.make(value)
  const rest = { ...change, path }
  const form = formWith(schema, name)
  const known = value ?? sampleOf(form, change.texts)
  if (form.type === 'array') {
    const [first, ...others] = Array.isArray(known) ? known : []
    return [withValue(keywordsOf(form.items ?? {}), first, rest), ...others]
  }
  const member = keywordsOf(form.properties?.[name] ?? {})
  // A variant of a one-of excludes the others.
  const own = schema.anyOf === undefined || isMember(known, name) ? asRecord(known) : {}
  return { ...own, [name]: withValue(member, asRecord(known)[name], rest) }
}

function isMember(value: unknown, name: string): boolean {
  return Object.hasOwn(asRecord(value), name)
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The form of a schema that has the member. */
function formWith(schema: Schema, name: string): Schema {
  const forms = (schema.anyOf ?? []).map(keywordsOf).map((form) => formWith(form, name))
  const has = (form: Schema) => form.properties?.[name] !== undefined || form.type === 'array'
  return forms.find(has) ?? schema
}

function keywordsOf(schema: object): Schema {
  const own = schema as Schema
  return { ...own, ...own['~about'] }
}

/** A value of the schema. */
export function sampleOf(schema: object, texts: Texts = {}): unknown {
  const own = keywordsOf(schema)
  if (own.default !== undefined) return own.default
  if (own.const !== undefined) return own.const
  if (own.enum !== undefined) return own.enum[0]
  if (own.anyOf !== undefined) return sampleOf(own.anyOf[0] ?? {}, texts)
  switch (own.type) {
    case 'object':
      return Object.fromEntries(
        (own.required ?? []).map((name) => [name, sampleOf(own.properties?.[name] ?? {}, texts)]),
      )
    case 'array':
      return Array.from({ length: own.minItems ?? 0 }, () => sampleOf(own.items ?? {}, texts))
    case 'string':
      return texts[own.pattern ?? ''] ?? textOf(own, own.minLength ?? 0) ?? textOf(own, 1) ?? SAMPLE
    case 'integer':
      return Math.max(own.minimum ?? 0, 0)
    case 'boolean':
      return false
    default:
      return null
  }
}

/** A party identifier, which most texts of a longer pattern are. */
const SAMPLE = `sample::1220${'0'.repeat(64)}`
/** Texts of a size, for the first pattern that has one. */
const FORMS: readonly ((size: number) => string)[] = [
  (size) => 'a'.repeat(size),
  (size) => '1'.repeat(size),
  (size) => `${'a'.repeat(Math.max(size - SUFFIX.length, 0))}${SUFFIX}`,
  (size) => `https://${'a'.repeat(Math.max(size - 8, 0))}`,
]
const SUFFIX = '.unverified.ns'

/** A text of so many characters; undefined where no form fits the pattern when it is short enough. */
function textOf(schema: Schema, size: number, known?: unknown): string | undefined {
  const { pattern = '' } = schema
  const counted = COUNTED.exec(pattern)
  if (counted !== null && size < Number(counted[2])) return undefined
  // Beyond the limit only the class has to fit.
  const fits = new RegExp(counted === null ? pattern : `^${counted[1]}*$`, 'u')
  const extended = (text: string) =>
    `${text.slice(0, 1).repeat(Math.max(size - text.length, 0))}${text}`
  const forms =
    typeof known === 'string' && known.length <= size && known !== '' ? [extended(known)] : []
  return [...forms, ...FORMS.map((form) => form(size))].find(
    (text) => text.length === size && fits.test(text),
  )
}

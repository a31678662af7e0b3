/** TypeBox schemas as JSON Schema for a document; a schema with a title becomes a component. */
import { ABOUT, NEEDED } from './schemas/members.ts'
import { PAGE_TOKEN_PATTERN, WELL_FORMED_PATTERN } from './schemas/scalars.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [member: string]: Json }
/** Components of a document, by title. */
export type Schemas = Record<string, Json>

type Options = {
  /** Members that may be left out may be null as well: bodies under `/v2`. */
  readonly isLenient?: boolean
}

/** The schema as plain JSON; its parts with a title become components, with references by title. */
export function toSchema(schema: object, schemas: Schemas, options: Options = {}): Json {
  const plain = (value: unknown): Json => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value as Json
    const { [ABOUT]: about, ...marked } = value as Record<string, unknown>
    const { [NEEDED]: _needed, default: _default, ...own } = marked
    const portable = withPortablePattern(own)
    const lenient: Record<string, unknown> =
      'properties' in portable ? withOptionalMembers(portable, options) : portable
    // What is excluded is JSON Schema as it stands.
    const members = mapMembers(lenient, (member, name) =>
      name === 'not' ? (member as Json) : plain(member),
    )
    // A property that is called title is a schema, hence no text.
    if (typeof members['title'] !== 'string')
      return { ...inCommonForm(members), ...(about as JsonObject) }
    const { title, ...json } = members
    schemas[title] = inCommonForm(json)
    return { $ref: `#/components/schemas/${title}`, ...(about as JsonObject) }
  }
  return plain(schema)
}

/** Patterns that regular expressions of some languages cannot have, in another form. */
const PORTABLE_FORMS: Readonly<Record<string, object>> = {
  // Their texts have no lone surrogates.
  [WELL_FORMED_PATTERN]: {},
  // Go repeats at most 1000 times.
  [PAGE_TOKEN_PATTERN]: { pattern: '^[A-Za-z0-9_-]+$', maxLength: 1024 },
}

function withPortablePattern(schema: Record<string, unknown>): Record<string, unknown> {
  const { pattern, ...rest } = schema
  const form = typeof pattern === 'string' ? PORTABLE_FORMS[pattern] : undefined
  return form === undefined ? schema : { ...rest, ...form }
}

/** The object with another value for each member. */
export function mapMembers<Member, Value>(
  object: Readonly<Record<string, Member>>,
  map: (member: Member, name: string) => Value,
): Record<string, Value> {
  const entries = Object.entries(object)
  return Object.fromEntries(entries.map(([name, member]) => [name, map(member, name)]))
}

/**
 * A member with a default is optional; generators would take a default as a promise that the member is present. A member
 * whose default is refused is required.
 */
function withOptionalMembers(schema: Record<string, unknown>, { isLenient = false }: Options) {
  const properties = schema['properties'] as Record<string, Constraints>
  const declared = (schema['required'] ?? []) as readonly string[]
  const isRequired = (member: Constraints, name: string) =>
    declared.includes(name) || member[NEEDED] === true || isDefaultRefused(member)
  const required = Object.entries(properties).flatMap(([name, member]) =>
    isRequired(member, name) ? [name] : [],
  )
  return {
    ...schema,
    properties: mapMembers(properties, (member, name) =>
      isLenient && !isRequired(member, name) ? orNull(member) : member,
    ),
    ...(required.length > 0 ? { required } : {}),
  }
}

type Constraints = {
  readonly [NEEDED]?: true
  readonly default?: unknown
  readonly minLength?: number
  readonly minItems?: number
  readonly minimum?: number
}

function isDefaultRefused(member: Constraints): boolean {
  const { default: value, minLength = 0, minItems = 0, minimum = -Infinity } = member
  if (typeof value === 'string') return value.length < minLength
  if (Array.isArray(value)) return value.length < minItems
  return typeof value === 'number' && value < minimum
}

function orNull(member: object): object {
  const { [ABOUT]: given, ...own } = member as Record<string, unknown>
  const { description, ...rest } = own as { description?: string; title?: string }
  // A component keeps its own description.
  const inner = rest.title === undefined ? rest : own
  const about =
    given ?? (rest.title === undefined && description !== undefined ? { description } : {})
  return { anyOf: [inner, { type: 'null' }], [ABOUT]: about }
}

/** The forms that generators and linters support best. */
function inCommonForm(schema: JsonObject): JsonObject {
  const { patternProperties, anyOf, ...rest } = schema
  if (patternProperties !== undefined) {
    const [of] = Object.values(patternProperties as JsonObject)
    const isAnything = of === undefined || JSON.stringify(of) === '{}'
    return { ...rest, additionalProperties: isAnything ? true : of }
  }
  if (!Array.isArray(anyOf)) return schema
  const [only, ...others] = anyOf as JsonObject[]
  if (others.length === 0) return { ...only, ...rest }
  if (!anyOf.every(isVariant)) return schema
  // `oneOf` excludes two of them together.
  const { not: _both, ...own } = rest
  return { ...own, oneOf: anyOf }
}

/** An object with one member, which identifies the variant: exactly one of them may be present. */
function isVariant(schema: Json): boolean {
  const { properties = {}, required = [] } = schema as {
    properties?: JsonObject
    required?: readonly string[]
  }
  return Object.keys(properties).length === 1 && required.length === 1
}

/** TypeBox schemas as JSON Schema for a document; what has a title becomes a component. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** The schema as plain JSON; whatever in it has a title becomes a component, referred to by that title. */
export function toSchema(schema: object, schemas: Record<string, Json>): Json {
  const plain = (value: unknown): Json => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value as Json
    const members = Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, plain(member)]),
    )
    // A property that is called title is a schema, hence no text.
    if (typeof members['title'] !== 'string') return withOpenMembers(members)
    const { title, ...json } = members
    schemas[title] = withOpenMembers(json)
    return { $ref: `#/components/schemas/${title}` }
  }
  return plain(schema)
}

/** TypeBox writes a record as a pattern that takes every name; generators know this form. */
function withOpenMembers(schema: JsonObject): JsonObject {
  const { patternProperties, ...rest } = schema
  if (patternProperties === undefined) return schema
  const [of] = Object.values(patternProperties as JsonObject)
  const isAnything = of === undefined || JSON.stringify(of) === '{}'
  return { ...rest, additionalProperties: isAnything ? true : of }
}

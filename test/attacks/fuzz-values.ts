/** Values that fit a JSON schema, or nearly do. */
import fc from 'fast-check'

export type Schema = {
  readonly type?: string
  readonly [keyword: string]: unknown
}

/** In a nearly valid value, one of 8 parts is invalid. */
export const WRONGNESS = 8

/** Values that often break parsers and tables. */
const hostileValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    '\u0000',
    '__proto__',
    'constructor',
    '-1',
    '1e400',
    '💥',
    '\ud800',
    'a'.repeat(5_000),
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    true,
    null,
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Values of the schema. With `wrongness`, one of so many parts is invalid; with null, none. */
export function valuesOf(schema: Schema, wrongness: number | null): fc.Arbitrary<unknown> {
  const valid = validValues(schema, wrongness)
  return wrongness === null
    ? valid
    : fc.oneof({ weight: wrongness, arbitrary: valid }, { weight: 1, arbitrary: hostileValues })
}

/** Valid and, as often, nearly valid values. */
export const valuesAndNearly = (schema: Schema): fc.Arbitrary<unknown> =>
  fc.oneof(valuesOf(schema, null), valuesOf(schema, WRONGNESS))

function validValues(schema: Schema, wrongness: number | null): fc.Arbitrary<unknown> {
  const within = (inner: unknown) => valuesOf(inner as Schema, wrongness)
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  const branches = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  if (Array.isArray(branches)) return fc.oneof(...branches.map(within))
  switch (schema.type) {
    case 'object':
      return objects(schema, within)
    case 'array':
      return fc.array(within(schema['items'] ?? {}), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: Math.min(4, Number(schema['maxItems'] ?? 4)),
      })
    case 'string':
      return texts(schema)
    case 'integer':
    case 'number':
      return fc.integer({
        min: Number(schema['minimum'] ?? -10),
        max: Math.min(Number(schema['maximum'] ?? 1_000), 2 ** 31),
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objects(
  schema: Schema,
  within: (inner: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const named = fc.record(
    Object.fromEntries(properties.map(([name, inner]) => [name, within(inner)])),
    { requiredKeys: (schema['required'] ?? []) as string[] },
  )
  const others =
    schema['additionalProperties'] ?? Object.values(schema['patternProperties'] ?? {})[0]
  if (typeof others !== 'object' || others === null) return named
  return fc
    .tuple(named, fc.dictionary(fc.string({ maxLength: 5 }), within(others), { maxKeys: 3 }))
    .map((parts) => Object.assign({}, ...parts))
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const { pattern } = schema
  if (typeof pattern === 'string' && !pattern.includes('\\p{') && !pattern.includes('\\P{'))
    return fc.stringMatching(new RegExp(pattern))
  return fc.oneof(
    fc.constantFrom('dso.ns', 'sv-1.sv.ns', 'alice', '0', '1.0'),
    fc.string({ unit: 'binary', maxLength: Math.min(60, Number(schema['maxLength'] ?? 60)) }),
  )
}

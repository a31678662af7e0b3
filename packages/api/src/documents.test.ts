/** Properties of the documents that readers and code generators need. */
import { describe, expect, it } from 'vitest'
import { apiDocuments } from './openapi.ts'
import { type JsonObject, toSchema } from './openapi-schema.ts'
import { GetUpdatesRequest } from './schemas/ledger/updates.ts'

type Node = { readonly path: string; readonly node: JsonObject }

const documents = Object.entries(apiDocuments())

/** Every object of a document, with the path to it. */
function nodes(value: unknown, path = ''): Node[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([name, member]) => nodes(member, `${path}/${name}`))
  return Array.isArray(value) ? below : [{ path, node: value as JsonObject }, ...below]
}

/** Members of objects, but for those in conditions. */
const members = (document: JsonObject) =>
  nodes(document)
    .filter(({ path }) => !path.includes('/not/'))
    .flatMap(({ path, node }) =>
      typeof node['properties'] === 'object' && 'type' in node
        ? Object.entries(node['properties'] as JsonObject).map(([name, member]) => ({
            path: `${path}/${name}`,
            member: member as JsonObject,
          }))
        : [],
    )

describe.each(documents)('%s', (_name, document) => {
  const components = (document['components'] as JsonObject)['schemas'] as JsonObject
  const described = (schema: JsonObject): boolean => {
    if (typeof schema['description'] === 'string' && schema['description'] !== '') return true
    if (typeof schema['$ref'] === 'string')
      return described(components[schema['$ref'].split('/').at(-1) ?? ''] as JsonObject)
    const [only, ...others] = (schema['anyOf'] ?? schema['oneOf'] ?? []) as JsonObject[]
    // A choice of one, or of one and nothing; variants tell by their own members what they are.
    if (only !== undefined && (others.length === 0 || others.every(({ type }) => type === 'null')))
      return described(only)
    // A wrapper needs no description if the wrapped value has one.
    const { value } = (schema['properties'] ?? {}) as { value?: JsonObject }
    return value !== undefined && described(value)
  }

  it('every member, or the component that it refers to, has a description', () => {
    expect(
      members(document)
        .filter(({ member }) => !described(member))
        .map(({ path }) => path),
    ).toEqual([])
  })

  it('every parameter and header has a description', () => {
    const named = nodes(document)
      .map(({ node }) => node)
      .filter((node) => 'in' in node && 'schema' in node)
    expect(named.filter((node) => !node['description']).map(({ name }) => name)).toEqual([])
  })

  it('every pattern is one for regular expressions of other languages, too', () => {
    const patterns = nodes(document).flatMap(({ node }) =>
      typeof node['pattern'] === 'string' ? [node['pattern']] : [],
    )
    expect(patterns.length).toBeGreaterThan(0)
    // Without look-around, back references, properties of Unicode, and letters that have a meaning after a backslash.
    const escaped = String.raw`\\[-.\\+*?^$|(){}[\]]`
    const common = new RegExp(
      String.raw`^(?:[^\\([]|\((?!\?)|\(\?:|${escaped}|\[(?:[^\\[\]]|${escaped})+\])*$`,
    )
    const isRepeatedTooOften = (pattern: string) =>
      [...pattern.matchAll(/[{,]([0-9]+)/g)].some(([, count]) => Number(count) > 1000)
    expect(
      patterns.filter((pattern) => !common.test(pattern) || isRepeatedTooOften(pattern)),
    ).toEqual([])
  })

  it('no schema has a default: generators would treat the member as always present', () => {
    expect(nodes(document).filter(({ node }) => 'default' in node)).toEqual([])
  })
})

it('under /v2 optional members may be null, and all others are required', () => {
  const schemas: Record<string, JsonObject> = {}
  toSchema(GetUpdatesRequest, schemas as never, { isLenient: true })
  const { GetUpdatesRequest: request } = schemas as never as {
    GetUpdatesRequest: { required: string[]; properties: Record<string, JsonObject> }
  }
  expect(request.required).toEqual(['beginExclusive'])
  const nullable = Object.entries(request.properties)
    .filter(([, member]) => JSON.stringify(member['anyOf'])?.includes('{"type":"null"}'))
    .map(([name]) => name)
  expect(nullable).toEqual(['endInclusive', 'filter', 'verbose', 'updateFormat', 'descendingOrder'])
  expect(request.properties['filter']).toMatchObject({ deprecated: true })
  expect(request.properties['verbose']).toMatchObject({ deprecated: true })
})

describe('responses of particular processes are declared', () => {
  const responsesOf = (
    name: 'scan' | 'synchronizer' | 'validator',
    path: string,
    method: string,
  ) => {
    const paths = apiDocuments()[name]['paths'] as Record<string, Record<string, JsonObject>>
    return paths[path]?.[method]?.['responses'] as Record<string, { content?: JsonObject }>
  }

  it('the text of the readiness of a validator', () => {
    const { 200: ready, 503: unready } = responsesOf('validator', '/readyz', 'get')
    expect(Object.keys(ready?.content ?? {})).toEqual(['text/plain'])
    expect(Object.keys(unready?.content ?? {})).toEqual(['application/json', 'text/plain'])
  })

  it.each(['scan', 'synchronizer'] as const)('404 of a %s for engine reads', (name) => {
    expect(Object.keys(responsesOf(name, '/v0/engine-reads', 'post'))).toContain('404')
  })
})

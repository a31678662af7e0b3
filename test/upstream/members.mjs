/**
 * The operations of an OpenAPI document, and the members of their requests: query parameters, headers, and the members
 * of bodies as paths (`commands[].CreateCommand.templateId`; `[]` is an item of an array, `*` an entry of a map).
 */
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** Parameters of a path are the operation itself, and their names differ. */
const PLACES = new Set(['query', 'header'])

/** @returns `[{ operation: 'GET /v0/x/{}', members: [{ member: 'query limit', required: false }] }]` */
export function operationsOf(document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      operation: operationName(method, path),
      members: membersOf(document, item, item[method]),
    })),
  )
}

/** A method and a path without the names of its parameters. */
export function operationName(method, path) {
  return `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
}

function membersOf(document, item, operation) {
  const resolve = (node) => {
    let at = node
    while (at?.$ref !== undefined)
      at = at.$ref
        .split('/')
        .slice(1)
        .reduce((found, step) => found?.[step], document)
    return at ?? {}
  }
  const required = new Map()
  const add = (member, isRequired) =>
    required.set(member, (required.get(member) ?? false) || isRequired)
  for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(
    resolve,
  ))
    if (PLACES.has(parameter.in)) add(parameterName(parameter), parameter.required === true)
  const contents = Object.values(resolve(operation.requestBody).content ?? {})
  for (const { schema } of contents) walk(resolve, schema, { path: '', above: [], add })
  return [...required]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([member, isRequired]) => ({ member, required: isRequired }))
}

/** Names of headers have no case. */
function parameterName({ in: place, name }) {
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`
}

/** @param at.above - The schemas around this one: a schema within itself is not followed again. */
function walk(resolve, schema, at) {
  const found = resolve(schema)
  if (at.above.includes(found)) return
  const { path, add } = at
  const above = [...at.above, found]
  for (const part of [...(found.allOf ?? []), ...(found.oneOf ?? []), ...(found.anyOf ?? [])])
    walk(resolve, part, { ...at, above })
  const required = new Set(found.required ?? [])
  for (const [name, member] of Object.entries(found.properties ?? {})) {
    const below = path === '' ? name : `${path}.${name}`
    add(`body ${below}`, required.has(name))
    walk(resolve, member, { path: below, above, add })
  }
  if (found.items !== undefined) walk(resolve, found.items, { path: `${path}[]`, above, add })
  const maps = [found.additionalProperties, ...Object.values(found.patternProperties ?? {})]
  for (const entry of maps)
    if (typeof entry === 'object' && entry !== null)
      walk(resolve, entry, { path: `${path}.*`, above, add })
}

// Pages of the HTTP and WebSocket interfaces, made of the OpenAPI and AsyncAPI documents.

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** What a cell of a table shows of a list of constants. */
const CONSTANTS_MAX = 12

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
const code = (text) => (String(text).includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)
const nameOf = (ref) => ref.slice(ref.lastIndexOf('/') + 1)

function table(head, rows) {
  if (rows.length === 0) return []
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`
  return ['', line(head), line(head.map(() => '---')), ...rows.map(line), '']
}

/** A type in one line; named ones are links to their section. */
function typeOf(schema) {
  if (schema === undefined || schema === true) return 'any'
  if (schema.$ref !== undefined)
    return `[${nameOf(schema.$ref)}](#${nameOf(schema.$ref).toLowerCase()})`
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) {
    const shown = [...new Set(options.slice(0, CONSTANTS_MAX).map(typeOf))]
    return [...shown, ...(options.length > CONSTANTS_MAX ? ['…'] : [])].join(' or ')
  }
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' and ')
  if (schema.enum !== undefined)
    return schema.enum.map((one) => code(JSON.stringify(one))).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (schema.type === 'object' && schema.properties === undefined) {
    const values = schema.additionalProperties
    return typeof values === 'object' ? `map to ${typeOf(values)}` : 'object'
  }
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any')
}

/** The constraints of a value, as text. */
function limitsOf(schema) {
  if (schema?.type === 'array' && schema.maxItems !== undefined)
    return [`at most ${schema.maxItems} items`]
  return [
    ...(schema?.minimum !== undefined ? [`from ${schema.minimum}`] : []),
    ...(schema?.maximum !== undefined ? [`to ${schema.maximum}`] : []),
    ...(schema?.maxLength !== undefined ? [`at most ${schema.maxLength} characters`] : []),
    ...(schema?.pattern !== undefined ? [`matches ${code(schema.pattern)}`] : []),
    ...(schema?.default !== undefined ? [`default ${code(JSON.stringify(schema.default))}`] : []),
  ]
}

function meaningOf(schema, description = schema?.description ?? '') {
  const limits = limitsOf(schema).join('; ')
  if (limits === '') return description
  return description === '' ? limits : `${description.replace(/\.$/, '')}; ${limits}`
}

/** Members of an object; those of objects within it by a path. */
function memberRows(schema, path = '') {
  const required = schema.required ?? []
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const whole = `${path}${name}`
    const within = member.type === 'array' ? member.items : member
    const nested =
      within?.properties === undefined
        ? []
        : memberRows(within, `${whole}${member.type === 'array' ? '[]' : ''}.`)
    return [
      [code(whole), typeOf(member), required.includes(name) ? 'yes' : 'no', meaningOf(member)],
      ...nested,
    ]
  })
}

const MEMBERS = ['member', 'type', 'required', 'meaning']

/** Forms of a value: objects with members of their own get a table each. */
function formsOf(schema) {
  const options = schema.anyOf ?? schema.oneOf ?? [schema]
  const objects = options.filter(({ properties }) => properties !== undefined)
  if (objects.length === 0) return ['', `Type: ${typeOf(schema)}${limits(schema)}.`, '']
  const others = options.filter(({ properties }) => properties === undefined)
  return [
    ...objects.flatMap((one, index) => [
      ...(objects.length > 1 ? ['', `Form ${index + 1}:`] : []),
      ...table(MEMBERS, memberRows(one)),
    ]),
    ...(others.length > 0 ? ['', `Or: ${others.map(typeOf).join(' or ')}.`, ''] : []),
  ]
}

const limits = (schema) =>
  limitsOf(schema)
    .map((limit) => `; ${limit}`)
    .join('')

function schemaSections(schemas) {
  return Object.keys(schemas)
    .sort()
    .flatMap((name) => [
      '',
      `### ${name}`,
      '',
      schemas[name].description ?? '',
      ...formsOf(schemas[name]),
    ])
}

function contentOf(content) {
  return Object.entries(content ?? {}).map(
    ([media, { schema }]) => `${typeOf(schema)} (${code(media)})`,
  )
}

function parameterRows(parameters) {
  return parameters.map(({ name, in: place, required, schema, description }) => [
    code(name),
    place,
    typeOf(schema),
    required ? 'yes' : 'no',
    meaningOf(schema, description ?? schema?.description),
  ])
}

function answerRows(responses) {
  return Object.entries(responses).map(([status, { description, content }]) => [
    status,
    contentOf(content).join(', '),
    description.replaceAll('\n\n', '<br>').replaceAll(/(^|<br>)([A-Z][A-Z_]+):/g, '$1`$2`:'),
  ])
}

function operationSection(method, path, operation, components) {
  const resolved = (operation.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined ? parameter : components.parameters[nameOf(parameter.$ref)],
  )
  const body = operation.requestBody
  return [
    '',
    `### ${method.toUpperCase()} ${path}`,
    '',
    operation.summary ?? '',
    '',
    ...(operation.description === undefined ? [] : [operation.description, '']),
    (operation.security ?? []).length > 0 ? 'A token is required.' : 'No token is required.',
    ...table(['parameter', 'in', 'type', 'required', 'meaning'], parameterRows(resolved)),
    ...(body === undefined ? [] : ['', `Body: ${contentOf(body.content).join(' or ')}.`, '']),
    ...table(['status', 'body', 'meaning'], answerRows(operation.responses)),
  ]
}

const titled = (tag) => `${tag[0].toUpperCase()}${tag.slice(1).replaceAll('-', ' ')}`

/** The page of an OpenAPI document. */
export function openApiPage(document) {
  const byTag = new Map()
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method]
      if (operation === undefined) continue
      const [tag = 'other'] = operation.tags ?? []
      const section = operationSection(method, path, operation, document.components)
      byTag.set(tag, [...(byTag.get(tag) ?? []), ...section])
    }
  const servers = (document.servers ?? []).map(({ url }) => code(url))
  return [
    `# HTTP: ${document.info.title}`,
    '',
    document.info.description,
    '',
    ...(servers.length > 0 ? [`Every path answers under each of ${servers.join(', ')}.`] : []),
    ...[...byTag].flatMap(([tag, lines]) => ['', `## ${titled(tag)}`, ...lines]),
    '',
    '## Schemas',
    ...schemaSections(document.components.schemas),
    '',
  ].join('\n')
}

/** The page of the AsyncAPI document. */
export function asyncApiPage(document) {
  const channels = Object.entries(document.channels).flatMap(([name, channel]) => [
    '',
    `## ${channel.address}`,
    '',
    document.operations[name]?.summary ?? '',
    '',
    channel.description ?? '',
    ...table(
      ['frame', 'type'],
      Object.values(channel.messages).map(({ title, payload }) => [title, typeOf(payload)]),
    ),
  ])
  return [
    '# WebSockets',
    '',
    document.info.description,
    ...channels,
    '',
    '## Schemas',
    ...schemaSections(document.components.schemas),
    '',
  ].join('\n')
}

// Writes src/generated/*checks.ts: for every answer that the SDK reads a function that says whether a
// value is one, as plain code, so that no schema and no compiler of schemas is shipped and a strict
// Content Security Policy has nothing to forbid. `npm run generate` runs it; test/parity compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

/** File → its document, and the schemas of it that are checked. What they refer to comes along. */
export const FILES = {
  // The largest are apart from the rest.
  'checks.ts': {
    document: 'validator',
    wanted: [
      'AcceptAnswer',
      'AutoRenewAnswer',
      'BalanceAnswer',
      'CoinsAnswer',
      'Contract',
      'CreateEntryAnswer',
      'InitialPaymentsAnswer',
      'OwnEntriesAnswer',
      'PartyIdAnswer',
      'PayAnswer',
      'SubscriptionRequestsAnswer',
      'SubscriptionsAnswer',
      'TapAnswer',
      'TransactionsAnswer',
      'TransferAnswer',
      'TransfersAnswer',
      'UserStatusAnswer',
    ],
  },
  'ledger-checks.ts': {
    document: 'ledger',
    wanted: [
      'GetLedgerEndResponse',
      'JsGetEventsByContractIdResponse',
      'JsGetUpdatesResponse',
      'SubmitAndWaitResponse',
    ],
  },
}

/** The text of a file, from its document. */
export function checksSource(file, document) {
  const { document: name, wanted } = FILES[file]
  const { schemas } = document.components
  const parts = [
    '// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.',
    `import type { components as ${name} } from './${name}.ts'`,
  ]
  const bodies = reachable(schemas, wanted).map((title) => {
    const type = `${name}['schemas'][${JSON.stringify(title)}]`
    const is = `function is${title}(v: unknown): v is ${type} {\n  return ${check(schemas[title], 'v')}\n}`
    return wanted.includes(title) ? `export ${is}` : is
  })
  return `${[
    parts.join('\n'),
    'type Members = Readonly<Record<string, unknown>>',
    "const isObject = (v: unknown): v is Members =>\n  typeof v === 'object' && v !== null && !Array.isArray(v)",
    'const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>\n  Array.isArray(v) && v.every(is)',
    "const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)",
    ...bodies,
  ].join('\n\n')}\n`
}

function reachable(schemas, wanted) {
  const seen = new Set()
  const visit = (title) => {
    if (seen.has(title)) return
    seen.add(title)
    for (const [, other] of JSON.stringify(schemas[title]).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    ))
      visit(other)
  }
  for (const title of wanted) visit(title)
  return [...seen].sort()
}

/** An expression that is true where the expression `v` has the schema. */
function check(schema, v, depth = 0) {
  if (schema.$ref !== undefined) return `is${schema.$ref.split('/').at(-1)}(${v})`
  if (schema.const !== undefined) return `${v} === ${literal(schema.const)}`
  if (schema.enum !== undefined)
    return `(${schema.enum.map((value) => `${v} === ${literal(value)}`).join(' || ')})`
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return `(${union.map((one) => check(one, v, depth)).join(' || ')})`
  switch (schema.type) {
    case 'null':
      return `${v} === null`
    case 'boolean':
      return `typeof ${v} === 'boolean'`
    case 'integer': {
      const min = schema.minimum === undefined ? '' : ` && Number(${v}) >= ${schema.minimum}`
      return `Number.isSafeInteger(${v})${min}`
    }
    case 'number':
      return `typeof ${v} === 'number'`
    case 'string':
      return schema.pattern === undefined
        ? `typeof ${v} === 'string'`
        : `isText(${v}, new RegExp(${literal(schema.pattern)}, 'u'))`.replace(
            /new RegExp\('(.*)', 'u'\)/,
            (_, text) => `/${JSON.parse(`"${text.replace(/"/g, '\\"')}"`).replace(/\//g, '\\/')}/u`,
          )
    case 'array': {
      const item = `e${depth}`
      const isItem = schema.items === undefined ? 'true' : check(schema.items, item, depth + 1)
      return `isList(${v}, (${item}) => ${isItem})`
    }
    case 'object': {
      const required = new Set(schema.required ?? [])
      const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
        const at = `${v}[${literal(name)}]`
        const is = check(member, at, depth)
        return required.has(name) ? is : `(${at} === undefined || ${is})`
      })
      return [`isObject(${v})`, ...members.filter((is) => is !== 'true')].join(' && ')
    }
    case undefined:
      return 'true'
    default:
      throw new Error(`no check for ${JSON.stringify(schema)}`)
  }
}

function literal(value) {
  return typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`
    : JSON.stringify(value)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [file, { document }] of Object.entries(FILES)) {
    const path = join(here, `../../packages/api/generated/${document}.json`)
    const source = checksSource(file, JSON.parse(readFileSync(path, 'utf8')))
    writeFileSync(join(here, '../src/generated', file), source)
  }
}

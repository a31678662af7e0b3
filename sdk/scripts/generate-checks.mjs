// Writes src/generated/*checks.ts: a type guard, as plain code, for every answer that the SDK reads. So the SDK ships no
// schemas and no compiler of schemas, which a strict Content Security Policy would forbid. `npm run generate` runs it;
// test/parity compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

/** File → its document. Each file is loaded with the part of the SDK that imports it. */
export const FILES = {
  'checks.ts': 'validator',
  'balance-check.ts': 'validator',
  'ledger-checks.ts': 'ledger',
}

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g

/** The schemas whose check `isName` is used by a source that imports the file. */
function usedSchemas(file, schemas) {
  const sources = readdirSync(join(here, '../src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(here, '../src', name), 'utf8'))
    .filter((source) => source.includes(`generated/${file}'`))
  const isUsed = (title) => sources.some((source) => new RegExp(`\\bis${title}\\b`).test(source))
  return Object.keys(schemas).filter(isUsed)
}

/** What checks call, by name. */
const HELPERS = {
  isObject:
    "const isObject = (v: unknown): v is Members =>\n  typeof v === 'object' && v !== null && !Array.isArray(v)",
  isList:
    'const isList = (v: unknown, is: (v: unknown) => boolean): boolean =>\n  Array.isArray(v) && v.every(is)',
  isText:
    "const isText = (v: unknown, pattern: RegExp): boolean => typeof v === 'string' && pattern.test(v)",
}

/** The text of a file, from its document. */
export function checksSource(file, document) {
  const name = FILES[file]
  const { schemas } = document.components
  const wanted = usedSchemas(file, schemas)
  const parts = [
    '// Written by scripts/generate-checks.mjs from the OpenAPI documents; do not edit.',
    `import type { components as ${name} } from './${name}.ts'`,
  ]
  const bodies = reachable(schemas, wanted).map((title) => {
    const type = `${name}['schemas'][${JSON.stringify(title)}]`
    const is = `function is${title}(v: unknown): v is ${type} {\n  return ${check(schemas[title], 'v')}\n}`
    return wanted.includes(title) ? `export ${is}` : is
  })
  const helpers = Object.entries(HELPERS)
    .filter(([helper]) => bodies.some((body) => body.includes(`${helper}(`)))
    .map(([, source]) => source)
  const members = 'type Members = Readonly<Record<string, unknown>>'
  return `${[parts.join('\n'), members, ...helpers, ...bodies].join('\n\n')}\n`
}

/** The schemas, and those that they refer to, sorted. */
export function reachable(schemas, wanted) {
  const seen = new Set()
  const visit = (title) => {
    if (seen.has(title)) return
    seen.add(title)
    for (const [, other] of JSON.stringify(schemas[title]).matchAll(REFERENCE)) visit(other)
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
        : `isText(${v}, /${schema.pattern.replaceAll('/', '\\/')}/u)`
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

const literal = (value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [file, name] of Object.entries(FILES)) {
    const path = join(here, `../../packages/api/generated/${name}.json`)
    const source = checksSource(file, JSON.parse(readFileSync(path, 'utf8')))
    writeFileSync(join(here, '../src/generated', file), source)
  }
}

// Writes src/generated/answers.ts: the types of answers with names in code (`userName`), so that an editor shows the
// documentation of each member, which a mapped type would lose. `npm run generate` runs it; test/parity compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { reachable } from './generate-checks.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))

/** What calls of the SDK return. */
const ANSWERS = [
  'Activity',
  'BalanceAnswer',
  'CoinsAnswer',
  'Contract',
  'SubscriptionsAnswer',
  'TransactionsAnswer',
  'TransferAnswer',
  'UserStatusAnswer',
]
const HEADER = `// Written by scripts/generate-answers.mjs from the OpenAPI documents; do not edit.
import type { Party } from '../platform/party.ts'
import type { ContractId } from '../platform/values.ts'

`
const CONTRACT_ID_NAME = /^(?:contract_id|contractId)$|_contract_id$|_cid$/
/** As `toCamel` renames members. */
const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())

/** The schema with names in code, except in `payload` and `details`, whose names are data. */
function renamed(schema, ofName = '') {
  if (Array.isArray(schema)) return schema.map((one) => renamed(one, ofName))
  if (typeof schema !== 'object' || schema === null) return schema
  const { properties, required, ...rest } = schema
  const other = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'items' || key === 'anyOf' || key === 'oneOf' ? renamed(value, ofName) : value,
    ]),
  )
  if (properties === undefined) {
    if (schema.type !== 'string') return other
    if (CONTRACT_ID_NAME.test(ofName)) return { ...other, format: 'contract-id' }
    return ofName === 'party' ? { ...other, format: 'party' } : other
  }
  const members = Object.entries(properties).map(([name, member]) => {
    const isData = name === 'payload' || name === 'details'
    return [camel(name), isData ? member : renamed(member, name)]
  })
  return { ...other, properties: Object.fromEntries(members), required: required?.map(camel) }
}

/** The types of the SDK for texts, by format. A text that is not a party is null. */
const TYPES = { 'contract-id': ['ContractId'], party: ['Party', 'null'] }

/** The text of the file, from the document of the validator. */
export async function answersSource(document) {
  const { schemas } = document.components
  const titles = reachable(schemas, ANSWERS)
  const own = Object.fromEntries(titles.map((title) => [title, renamed(schemas[title])]))
  const types = await openapiTS(
    { openapi: document.openapi, info: document.info, paths: {}, components: { schemas: own } },
    {
      immutable: true,
      transform({ format }) {
        const types = TYPES[format]?.map((name) => ts.factory.createTypeReferenceNode(name))
        return types && ts.factory.createUnionTypeNode(types)
      },
    },
  )
  return HEADER + astToString(types)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(here, '../../packages/api/generated/validator.json')
  const document = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(join(here, '../src/generated/answers.ts'), await answersSource(document))
}

// Writes the OpenAPI and AsyncAPI documents from the built route tables: `npm run generate -w @quorumscan/api`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiDocuments } from './dist/index.js'

const directory = join(import.meta.dirname, 'generated')
mkdirSync(directory, { recursive: true })
for (const [name, document] of Object.entries(apiDocuments()))
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`)

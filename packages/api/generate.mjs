// Writes the OpenAPI and AsyncAPI documents from the route tables: `npm run generate -w @quorumscan/api`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const { output } = await build({
  cwd: import.meta.dirname,
  input: 'src/index.ts',
  output: { codeSplitting: false },
  write: false,
})
const { apiDocuments } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)

const directory = join(import.meta.dirname, 'generated')
mkdirSync(directory, { recursive: true })
for (const [name, document] of Object.entries(apiDocuments()))
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`)

/** Generated files are what a fresh generation gives; `npm run generate` repairs all of them. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { API_VERSION, openApiDocuments } from '@quorumscan/api'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(root, path), 'utf8')

describe.each(Object.entries(openApiDocuments()))('%s', (name, document) => {
  test('the committed OpenAPI document is that of the route table', async () => {
    expect(await read(`packages/api/generated/${name}.json`)).toBe(
      `${JSON.stringify(document, null, 2)}\n`,
    )
  })

  test("the SDK's types are those of the document", async () => {
    const generator = join(root, 'sdk/node_modules/.bin/openapi-typescript')
    const document = join(root, `packages/api/generated/${name}.json`)
    // Members with a default may be left out of requests.
    const flags = name === 'ledger' ? ['--default-non-nullable', 'false'] : []
    const { stdout } = await promisify(execFile)(generator, [document, ...flags], {
      maxBuffer: 16 * 1024 * 1024,
    })
    expect((await read(`sdk/src/generated/${name}.ts`)).trim()).toBe(stdout.trim())
  })
})

test("the SDK's checks of answers are those of the documents", async () => {
  const { checksSource, FILES } = (await import(join(root, 'sdk/scripts/generate-checks.mjs'))) as {
    checksSource: (file: string, document: unknown) => string
    FILES: Record<string, { document: keyof ReturnType<typeof openApiDocuments> }>
  }
  for (const [file, { document }] of Object.entries(FILES)) {
    const json: unknown = JSON.parse(JSON.stringify(openApiDocuments()[document]))
    expect(await read(`sdk/src/generated/${file}`), file).toBe(checksSource(file, json))
  }
})

test('the documents have the version of their package', async () => {
  expect(JSON.parse(await read('packages/api/package.json'))).toMatchObject({
    version: API_VERSION,
  })
})

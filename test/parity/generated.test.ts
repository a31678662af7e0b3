/** Generated files equal a new generation. `npm run generate` writes all of them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { API_VERSION, apiDocuments } from '@quorumscan/api'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFile(join(root, path), 'utf8')

it.each(Object.entries(apiDocuments()))(
  'the committed document %s equals the one from the route tables',
  async (name, document) => {
    expect(await read(`packages/api/generated/${name}.json`)).toBe(
      `${JSON.stringify(document, null, 2)}\n`,
    )
  },
)

describe.each(['scan', 'validator', 'ledger'])('%s', (name) => {
  it("the SDK's types equal those from the document", async () => {
    const generator = join(root, 'sdk/node_modules/openapi-typescript/dist/index.mjs')
    const {
      default: openapiTS,
      astToString,
      COMMENT_HEADER,
    } = (await import(generator)) as {
      default: (document: URL) => Promise<unknown>
      astToString: (ast: unknown) => string
      COMMENT_HEADER: string
    }
    const document = pathToFileURL(join(root, `packages/api/generated/${name}.json`))
    const types = COMMENT_HEADER + astToString(await openapiTS(document))
    expect((await read(`sdk/src/generated/${name}.ts`)).trim()).toBe(types.trim())
  })
})

it("the SDK's types of answers equal those from the document", async () => {
  const { answersSource } = (await import(join(root, 'sdk/scripts/generate-answers.mjs'))) as {
    answersSource: (document: unknown) => Promise<string>
  }
  const document: unknown = JSON.parse(JSON.stringify(apiDocuments()['validator']))
  expect(await read('sdk/src/generated/answers.ts')).toBe(await answersSource(document))
})

it("the SDK's checks of answers equal those from the documents", async () => {
  const { checksSource, FILES } = (await import(join(root, 'sdk/scripts/generate-checks.mjs'))) as {
    checksSource: (file: string, document: unknown) => string
    FILES: Record<string, keyof ReturnType<typeof apiDocuments>>
  }
  for (const [file, name] of Object.entries(FILES)) {
    const json: unknown = JSON.parse(JSON.stringify(apiDocuments()[name]))
    expect(await read(`sdk/src/generated/${file}`), file).toBe(checksSource(file, json))
  }
})

it('the documents have the version of their package', async () => {
  expect(JSON.parse(await read('packages/api/package.json'))).toMatchObject({
    version: API_VERSION,
  })
})

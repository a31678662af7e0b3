/** ERRORS.md and the types of codes are generated from the catalogues (`npm run generate`). */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogue, ledgerCatalogue, ledgerErrorSpec } from '@quorumscan/errors'
import { expect, it } from 'vitest'

const sdk = join(import.meta.dirname, '../../sdk')
const { clientErrorCodes } = (await import(join(sdk, 'src/client-error-codes.ts'))) as {
  clientErrorCodes: object // Not exported to users of the package.
}
const { failure } = (await import(join(sdk, 'src/errors.ts'))) as {
  failure: (code: string, message: string) => { readonly docs: string }
}
const { errorCodesSource, errorFactsSource, errorsPage } = (await import(
  join(sdk, 'scripts/generate-errors.mjs')
)) as {
  errorCodesSource: (catalogue: object, ledgerCatalogue: object) => string
  errorFactsSource: (catalogue: object, ledger: object) => string
  errorsPage: (catalogue: object, clientCodes: object, ledger: object) => string
}

it('ERRORS.md has exactly one row for each code of the catalogues', async () => {
  const page = await readFile(join(sdk, 'ERRORS.md'), 'utf8')
  const ledger = { catalogue: ledgerCatalogue, specOf: ledgerErrorSpec }
  expect(page).toBe(errorsPage(catalogue, clientErrorCodes, ledger))
  const rows = [...page.matchAll(/^\| <a id="([A-Z_]+)"><\/a>`\1` \|/gm)].map((match) => match[1])
  const codes = [catalogue, clientErrorCodes, ledgerCatalogue].flatMap((each) => Object.keys(each))
  expect(rows).toEqual(codes)
})

it('each error links to its row of ERRORS.md, which is in the package', async () => {
  const page = await readFile(join(sdk, 'ERRORS.md'), 'utf8')
  const { files } = JSON.parse(await readFile(join(sdk, 'package.json'), 'utf8'))
  expect(files).toContain('ERRORS.md')
  for (const each of [catalogue, clientErrorCodes, ledgerCatalogue])
    for (const code of Object.keys(each)) {
      const [file, anchor] = failure(code, 'failed').docs.split('#')
      expect(file).toBe('@quorumscan/sdk/ERRORS.md')
      expect(page).toContain(`<a id="${anchor}"></a>`)
    }
})

it('the SDK throws every code of its own catalogue', async () => {
  const names = await readdir(join(sdk, 'src'), { recursive: true })
  const sources = names.filter(
    (name) => /(?<!\.test)\.ts$/.test(name) && !name.endsWith('client-error-codes.ts'),
  )
  const texts = await Promise.all(sources.map((name) => readFile(join(sdk, 'src', name), 'utf8')))
  const never = Object.keys(clientErrorCodes).filter(
    (code) => !texts.some((text) => new RegExp(`(?:[?:] |\\(\\s*)'${code}'(?! *\\|)`).test(text)),
  )
  expect(never).toEqual([])
})

it("the SDK's type of server codes equals the catalogue", async () => {
  const source = await readFile(join(sdk, 'src/generated/error-codes.ts'), 'utf8')
  expect(source).toBe(errorCodesSource(catalogue, ledgerCatalogue))
})

it('a fake validator answers errors with the status and the facts of the catalogue', async () => {
  const source = await readFile(join(sdk, 'src/generated/error-facts.ts'), 'utf8')
  const ledger = { catalogue: ledgerCatalogue, specOf: ledgerErrorSpec }
  expect(source).toBe(errorFactsSource(catalogue, ledger))
})

// Writes ERRORS.md and the type of the servers' codes from the catalogues. `npm run generate` runs it;
// test/parity compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

/** The text of src/generated/error-codes.ts. */
export function errorCodesSource(catalogue, ledgerCatalogue) {
  const all = new Set([...Object.keys(catalogue), ...Object.keys(ledgerCatalogue)])
  const codes = [...all].map((code) => `  '${code}',`)
  return `// Written by scripts/generate-errors.mjs from packages/errors; do not edit.\n\n/** What the servers answer with, the ledger interface among them. */\nexport const serverErrorCodes = [\n${codes.join('\n')}\n] as const\n\n/** One of them. */\nexport type ServerErrorCode = (typeof serverErrorCodes)[number]\n`
}

/** The text of ERRORS.md. `ledger` is `{catalogue, specOf}`. */
export function errorsPage(catalogue, clientCodes, ledger) {
  const word = (is) => (is === null ? 'see error' : is ? 'yes' : 'no')
  const row = (code, spec, status) =>
    `| \`${code}\` | ${status} | ${word(spec.definite)} | ${word(spec.retryable)} | ${spec.doc} |`
  const table = (rows) => [
    '| code | status | definite | retryable | |',
    '|---|---|---|---|---|',
    ...rows,
  ]
  return `${[
    '# Errors',
    '',
    '<!-- Written by `npm run generate` from the catalogues; do not edit. -->',
    '',
    'Everything that the SDK throws is a `QuorumscanError`, but for the reason of a signal that you abort.',
    '`definite`: the request certainly had no effect and never will have (reads never have one, whatever the',
    'table says). `retryable`: the same call may succeed later. Codes are permanent; match on `code`, never',
    'on the message.',
    '',
    '## From the servers',
    '',
    ...table(Object.entries(catalogue).map(([code, spec]) => row(code, spec, spec.httpStatus))),
    '',
    '## From the SDK',
    '',
    ...table(Object.entries(clientCodes).map(([code, spec]) => row(code, spec, ''))),
    '',
    '## From the ledger interface',
    '',
    '`updates` and `commands` only. The codes are those of the network, which other clients match on;',
    '`commands.submit` says by its outcome what a refusal means.',
    '',
    '| code | status | retryable |',
    '|---|---|---|',
    ...Object.keys(ledger.catalogue).map((code) => {
      const { httpStatus, retryInfo } = ledger.specOf(code)
      return `| \`${code}\` | ${httpStatus} | ${word(retryInfo !== null)} |`
    }),
  ].join('\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { build } = await import('esbuild')
  // The catalogues are TypeScript, which the oldest Node that we support does not run.
  const load = async (path) => {
    const entryPoints = [join(here, path)]
    const { outputFiles } = await build({ entryPoints, write: false, format: 'esm' })
    return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
  }
  const { catalogue } = await load('../../packages/errors/src/catalogue.ts')
  const { ledgerCatalogue, ledgerErrorSpec } = await load(
    '../../packages/errors/src/ledger-catalogue.ts',
  )
  const { clientErrorCodes } = await load('../src/client-error-codes.ts')
  writeFileSync(
    join(here, '../src/generated/error-codes.ts'),
    errorCodesSource(catalogue, ledgerCatalogue),
  )
  const ledger = { catalogue: ledgerCatalogue, specOf: ledgerErrorSpec }
  writeFileSync(join(here, '../ERRORS.md'), errorsPage(catalogue, clientErrorCodes, ledger))
}

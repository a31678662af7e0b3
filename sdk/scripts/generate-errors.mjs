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
  return `// Written by scripts/generate-errors.mjs from packages/errors; do not edit.\n\n/** Error codes of the servers, with those of the ledger interface. */\nexport const serverErrorCodes = [\n${codes.join('\n')}\n] as const\n\n/** An error code of a server. */\nexport type ServerErrorCode = (typeof serverErrorCodes)[number]\n`
}

/** The text of src/generated/error-facts.ts, which only the fakes load. `ledger` is `{catalogue, specOf}`. */
export function errorFactsSource(catalogue, ledger) {
  const ofLedger = Object.keys(ledger.catalogue).map((code) => {
    const { httpStatus, retryInfo } = ledger.specOf(code)
    return [code, { httpStatus, definite: true, retryable: retryInfo !== null }]
  })
  const all = { ...Object.fromEntries(ofLedger), ...catalogue }
  const rows = Object.entries(all).map(([code, { httpStatus: status, definite, retryable }]) => {
    return `  ${code}: { status: ${status}, definite: ${definite}, retryable: ${retryable} },`
  })
  return `// Written by scripts/generate-errors.mjs from packages/errors; do not edit.\n\n/** What the errors of the servers have, by code. */\nexport const serverErrorFacts = {\n${rows.join('\n')}\n} as const\n\n/** A code that a fake validator answers. */\nexport type FakeErrorCode = keyof typeof serverErrorFacts\n`
}

/** The text of ERRORS.md. `ledger` is `{catalogue, specOf}`. */
export function errorsPage(catalogue, clientCodes, ledger) {
  const word = (is) => (is === null ? 'see error' : is ? 'yes' : 'no')
  const table = (specs, statusOf) =>
    Object.entries(specs)
      .map(([code, spec]) => {
        const { definite, retryable, doc } = spec
        return `| <a id="${code}"></a>\`${code}\` | ${statusOf(spec)} | ${word(definite)} | ${word(retryable)} | ${doc} |`
      })
      .join('\n')
  const ledgerRows = Object.keys(ledger.catalogue).map((code) => {
    const { httpStatus, retryInfo } = ledger.specOf(code)
    return `| <a id="${code}"></a>\`${code}\` | ${httpStatus} | ${word(retryInfo !== null)} |`
  })
  return `# Errors

<!-- Written by \`npm run generate\` from the catalogues; do not edit. -->

All errors of the SDK are a \`QuorumscanError\`, except the reason of a signal that you abort.
\`definite\`: the request certainly had no effect, and never will (reads never have one). \`retryable\`: the same call
may succeed later. Codes are permanent; match on \`code\`, never on the message.

## From the servers

| code | status | definite | retryable | |
|---|---|---|---|---|
${table(catalogue, (spec) => spec.httpStatus)}

## From the SDK

| code | status | definite | retryable | |
|---|---|---|---|---|
${table(clientCodes, () => '')}

## From the ledger interface

Only \`updates\` and \`commands\` have these codes of the network, on which other clients match. The outcome of
\`commands.submit\` explains a refusal.

| code | status | retryable |
|---|---|---|
${ledgerRows.join('\n')}
`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { build } = await import('esbuild')
  // The catalogues are TypeScript, which the oldest supported Node does not run.
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
  const source = errorCodesSource(catalogue, ledgerCatalogue)
  writeFileSync(join(here, '../src/generated/error-codes.ts'), source)
  const ledger = { catalogue: ledgerCatalogue, specOf: ledgerErrorSpec }
  const facts = errorFactsSource(catalogue, ledger)
  writeFileSync(join(here, '../src/generated/error-facts.ts'), facts)
  writeFileSync(join(here, '../ERRORS.md'), errorsPage(catalogue, clientErrorCodes, ledger))
}

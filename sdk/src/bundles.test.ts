/** What a page loads to read names: made of the sources, as a bundler does. */
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

/** The files of all parts, and of those that are loaded without `import()`. */
async function filesOf(contents: string) {
  const { metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    absWorkingDir: join(import.meta.dirname, '../..'),
    outdir: 'dist',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    splitting: true,
    platform: 'browser',
    conditions: ['@quorumscan/source'],
  })
  const { outputs } = metafile
  const inputsOf = (parts: Iterable<string>) =>
    [...parts].flatMap((part) => {
      const inputs = outputs[part]?.inputs ?? {}
      return Object.keys(inputs).filter((file) => inputs[file]?.bytesInOutput !== 0)
    })
  const first = new Set(
    Object.keys(outputs).filter((part) => outputs[part]?.entryPoint === '<stdin>'),
  )
  // A set that grows while it is iterated yields what was added.
  for (const part of first)
    for (const { path, kind } of outputs[part]?.imports ?? [])
      if (kind === 'import-statement') first.add(path)
  return { all: inputsOf(Object.keys(outputs)), first: inputsOf(first) }
}

describe('what a page loads', () => {
  it('reads certified answers without the reader of votes', async () => {
    const { all } = await filesOf(`export * from './index.ts'`)
    expect(all).toContain('packages/reader/src/certified/certified-decider.ts')
    expect(all.filter((file) => /packages\/reader\/src\/vote[ds]\//.test(file))).toEqual([])
  })

  it('clients bring no hooks, and hooks bring no client, resolver or registration', async () => {
    expect((await filesOf(`export * from './index.ts'`)).all.join()).not.toContain('sdk/src/react')
    const { all } = await filesOf(`export * from './react.ts'`)
    expect(all).toContain('sdk/src/react/party-hooks.ts')
    const own = all.filter((file) => /^sdk\/|^packages\/reader/.test(file))
    expect(own.filter((file) => /reader|scan\.ts|resolver\.ts|wallet/.test(file))).toEqual([
      'sdk/src/naming/party-resolver.ts', // Its conversion of errors.
      'sdk/src/wallet/queries.ts', // Options of queries, without the wallet.
      'sdk/src/react/wallet-hooks.ts',
    ])
  })

  it.each([
    [`export { createScan } from './index.ts'`, 'sdk/src/scan.ts', 'sdk/src/names/reads.ts'],
    [
      `export { createScan, createValidator } from './index.ts'`,
      'sdk/src/validator.ts',
      'sdk/src/http/http.ts',
    ],
    [
      `export { createValidator } from './index.ts'`,
      'sdk/src/validator.ts',
      'sdk/src/wallet/wallet.ts',
    ],
    [
      `export { createSpliceScan } from './splice/index.ts'`,
      'sdk/src/splice/splice-names.ts',
      'sdk/src/names/metadata.ts',
    ],
    [
      `export * from './naming/index.ts'`,
      'sdk/src/naming/resolver.ts',
      'sdk/src/naming/http-reads.ts',
    ],
  ])('%s: a part is loaded by the first call that needs it', async (contents, first, later) => {
    const files = await filesOf(contents)
    expect(files.all).toContain(later)
    expect(files.first).toContain(first)
    expect(files.first).not.toContain(later)
  })
})

/** What a page loads to read names: made of the sources, as a bundler does. */
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

async function filesOf(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, entry)],
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
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => inputs[file]?.bytesInOutput !== 0),
  )
}

it('reads certified answers without the reader of votes', async () => {
  const files = await filesOf('index.ts')
  expect(files).toContain('packages/reader/src/certified/certified-decider.ts')
  expect(files.filter((file) => /packages\/reader\/src\/vote[ds]\//.test(file))).toEqual([])
})

/** Programs of tests that import sources, for processes of their own: the oldest supported Node runs no TypeScript. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOFTWARE_ROOT } from '@quorumscan/base'
import { rolldown } from 'rolldown'
import { createDirectory } from './directory.ts'

/** Within the repository, whose files a program may look for. */
const DIRECTORY = fileURLToPath(new URL('node_modules/.cache/programs/', SOFTWARE_ROOT))

/**
 * Bundles a program.
 *
 * @param code - JavaScript. Its imports are relative to `folder`.
 * @returns Its file, until it is disposed.
 */
export async function bundleProgram(
  code: string,
  folder: string,
): Promise<Disposable & { readonly file: string }> {
  const entry = join(folder, 'program.js')
  mkdirSync(DIRECTORY, { recursive: true })
  const { path, ...temporary } = createDirectory('program', DIRECTORY)
  const file = join(path, 'program.mjs')
  const build = await rolldown({
    input: entry,
    platform: 'node',
    transform: { target: 'node20.19' },
    // Packages of the registry are loaded from where they are installed.
    external: (id, _, isResolved) => isResolved && id.includes('/node_modules/'),
    makeAbsoluteExternalsRelative: false,
    // Code may import a module for what it does, although our packages declare no side effects.
    treeshake: false,
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
  })
  await build.write({ file, format: 'esm', codeSplitting: false })
  await build.close()
  return { file, ...temporary }
}

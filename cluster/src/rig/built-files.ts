/** What the build makes of this package, found from its sources, its build and its bundles alike. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '@quorumscan/base'

const root = packageRoot(import.meta.url)

/** The root of the repository, unless the package is installed elsewhere. */
export const REPOSITORY_ROOT = fileURLToPath(new URL('../', root))

/** Of this package, and so of all that it runs. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('package.json', root), 'utf8'),
).version

/** The page of the console. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL('../apps/console/dist/', root))

/** The bundle of a process, so that it starts quickly: `package.json` lists them. */
export function bundleOf(process: 'control' | 'scan' | 'validator' | 'synchronizer'): string {
  return fileURLToPath(new URL(`dist/processes/${process}-main.js`, root))
}

/** The files that the build makes, found from the sources, the build and the bundles alike. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '@quorumscan/base'

const root = packageRoot(import.meta.url)

const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

/** The version of this package, and so of all its processes. */
export const VERSION = String(version)

/** The page of the console. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL('../apps/console/dist/', root))

/** The bundle of a process, which starts quickly: `package.json` lists them. */
export function bundleOf(process: 'control' | 'scan' | 'validator' | 'synchronizer'): string {
  return fileURLToPath(new URL(`dist/processes/${process}-main.js`, root))
}

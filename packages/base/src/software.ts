/** The software that runs: a clone of the repository, or an installed release, whose files lie where those of a clone lie. */
import { existsSync, readFileSync, statSync } from 'node:fs'

/** Its package.json has the version of all processes, and in a release the commit. */
const MANIFEST = 'apps/cli/package.json'

/** The folder of the clone or of the installed package, with a slash at its end, for sources and bundles alike. */
export const SOFTWARE_ROOT = softwareRoot(import.meta.url)

function softwareRoot(moduleUrl: string): URL {
  for (let folder = new URL('./', moduleUrl); ; folder = new URL('../', folder)) {
    if (existsSync(new URL(MANIFEST, folder))) return folder
    if (folder.pathname === '/') throw new Error(`no ${MANIFEST} above ${moduleUrl}`)
  }
}

export type Software = {
  readonly version: string
  /** The commit that a release was built from; null in a clone. */
  readonly commit: string | null
  /** When its package.json was written, in milliseconds since 1970. */
  readonly modifiedMs: number
}

/** What is installed now, which may be newer than the code that runs. */
export function readSoftware(root = SOFTWARE_ROOT): Software {
  const file = new URL(MANIFEST, root)
  // Our own package.json.
  const { version, gitHead } = JSON.parse(readFileSync(file, 'utf8')) as {
    version: string
    gitHead?: string
  }
  return { version, commit: gitHead ?? null, modifiedMs: statSync(file).mtimeMs }
}

/** What is running, for `/version`. */
import { readFileSync, statSync } from 'node:fs'
import { MICROS_PER_MS, packageRoot } from '@quorumscan/base'
import { formatInstant as formatTime } from '@quorumscan/verifier'

export type BuildInfo = {
  readonly version: string
  /** ISO-8601. A checkout has no other stamp than that of its files: when the package was laid out. */
  readonly commitTime: string
}

/**
 * @param moduleUrl - `import.meta.url` of a module of the app; where the app was bundled, it is the
 *   version of what it was bundled into.
 */
export function readBuildInfo(moduleUrl: string): BuildInfo {
  const packageFile = new URL('package.json', packageRoot(moduleUrl))
  // Our own package.json.
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const { mtimeMs } = statSync(packageFile)
  return { version, commitTime: formatTime(Math.floor(mtimeMs) * MICROS_PER_MS) }
}

/** What is running, for `/version`. */
import { readFileSync, statSync } from 'node:fs'
import { MICROS_PER_MS } from '@quorumscan/base'
import { formatTime } from '@quorumscan/model'

export type BuildInfo = {
  readonly version: string
  /** ISO-8601. A checkout has no other stamp than that of its files: when this package was laid out. */
  readonly commitTime: string
}

// The same place seen from `src` and from `dist`.
const PACKAGE_FILE = new URL('../package.json', import.meta.url)

export function readBuildInfo(): BuildInfo {
  // Our own package.json.
  const { version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string }
  const { mtimeMs } = statSync(PACKAGE_FILE)
  return { version, commitTime: formatTime(Math.floor(mtimeMs) * MICROS_PER_MS) }
}

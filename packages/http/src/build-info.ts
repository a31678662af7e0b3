/** What is running, for `/version`. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { MICROS_PER_MS } from '@quorumscan/base'
import { formatTime } from '@quorumscan/model'

export type BuildInfo = {
  readonly version: string
  /** ISO-8601. A checkout has no other stamp than that of its files: when the package was laid out. */
  readonly commitTime: string
}

/**
 * @param moduleUrl - `import.meta.url` of a module of the app. The package.json nearest above it is
 *   read: that of the app, or of the cluster where the app was bundled into one file.
 * @throws {Error} If there is none.
 */
export function readBuildInfo(moduleUrl: string): BuildInfo {
  for (let folder = new URL('./', moduleUrl); ; folder = new URL('../', folder)) {
    const packageFile = new URL('package.json', folder)
    if (existsSync(packageFile)) {
      // Our own package.json.
      const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
      const { mtimeMs } = statSync(packageFile)
      return { version, commitTime: formatTime(Math.floor(mtimeMs) * MICROS_PER_MS) }
    }
    if (folder.pathname === '/') throw new Error(`no package.json above ${moduleUrl}`)
  }
}

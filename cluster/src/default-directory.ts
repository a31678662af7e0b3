/** Where the cluster lives unless `--data-dir` says another place. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY_ROOT } from './built-files.ts'

/** `.quorumscan` at the root of the repository; where the package is installed elsewhere, in `cwd`. */
export function defaultDataDirectory(cwd: string): string {
  const isRepository = existsSync(join(REPOSITORY_ROOT, 'turbo.json'))
  return join(isRepository ? REPOSITORY_ROOT : cwd, '.quorumscan')
}

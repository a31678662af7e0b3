/** The environment of the command line: where it is installed, and where it was typed. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRedis, packageRoot } from '@quorumscan/base'

export type Environment = ReturnType<typeof readEnvironment>

/**
 * @param moduleUrl - `import.meta.url` of a module of the package that has the command, or of its bundle.
 * @param pathToRepository - From that package to the root of the repository: `../`.
 */
export function readEnvironment(moduleUrl: string, pathToRepository: string) {
  const root = packageRoot(moduleUrl)
  const repository = new URL(pathToRepository, root)
  const { version, gitHead } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const mainOf = (app: string) => fileURLToPath(new URL(`apps/${app}/dist/main.js`, repository))
  // A package that is installed elsewhere uses the working directory.
  const isRepository = existsSync(new URL('turbo.json', repository))
  const parent = isRepository ? fileURLToPath(repository) : process.cwd()
  return {
    /** The version of the package that has the command. */
    version: String(version),
    /** The commit that it was built from. A release has it in its package.json. */
    commit: (): string => gitHead ?? ((isRepository && checkedOutCommit(parent)) || 'unknown'),
    /** The default of `--data-dir`. */
    defaultDataDirectory: join(parent, '.quorumscan'),
    /** If none is found, the check of a start reports that this one is missing. */
    redisServer: findRedis(process.env) ?? 'redis-server',
    /** The compiled entry file of each app. */
    entryFiles: {
      scan: mainOf('scan'),
      synchronizer: mainOf('synchronizer'),
      validator: mainOf('validator'),
    },
  }
}

/** The commit of a clone, with `-dirty` at its end if files differ from it. Empty without git or its data. */
function checkedOutCommit(repository: string): string {
  const words = ['describe', '--always', '--abbrev=40', '--dirty', '--exclude=*']
  const { stdout } = spawnSync('git', words, { cwd: repository, encoding: 'utf8' })
  return (stdout ?? '').trim()
}

/** The environment of the command line: where it is installed, and where it was typed. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRedis, readSoftware, SOFTWARE_ROOT } from '@quorumscan/base'

export type Environment = ReturnType<typeof readEnvironment>

export function readEnvironment(root = SOFTWARE_ROOT) {
  const software = readSoftware(root)
  const mainOf = (app: string) => fileURLToPath(new URL(`dist/apps/${app}/main.js`, root))
  // A package that is installed elsewhere uses the working directory.
  const isRepository = existsSync(new URL('turbo.json', root))
  const parent = isRepository ? fileURLToPath(root) : process.cwd()
  return {
    version: software.version,
    /** The commit that it was built from. */
    commit: (): string =>
      software.commit ?? ((isRepository && checkedOutCommit(parent)) || 'unknown'),
    /** Whether a person reads the errors; else a service manager or a program does. */
    isTerminal: process.stderr.isTTY === true,
    /** The default of `--data-dir`. */
    defaultDataDirectory: join(parent, '.quorumscan'),
    /** If none is found, the check of a start reports that this one is missing. */
    redisServer: findRedis(process.env) ?? 'redis-server',
    /** The bundled entry file of each app. */
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

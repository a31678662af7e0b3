/** Whether the data directory can be written, and all of it belongs to the user that runs the processes. */
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { assertWritable, messageOf } from '@quorumscan/runtime'
import type { OperatorConfig } from '../run/operator-config.ts'
import { type Check, failed, ok, warning } from './check.ts'

const ROOT = 0
/** What processes write; the operator may put other files next to it, and a file system `lost+found`. */
const WRITTEN =
  /^(?:redis|engines|snapshots|keys|secrets|processes\.json|sockets\.json|peers\.env)$/
/** Below it are the files of the engine, which are many and made with their directories. */
const DEPTH_MAX = 2

/**
 * A file of another user stops a process in each start, also when systemd starts it again and again.
 *
 * @param user - Of this process; null: the system has none.
 */
export function checkDirectory(
  { directory: { path }, variables }: Pick<OperatorConfig, 'directory' | 'variables'>,
  user: number | null = process.getuid?.() ?? null,
): Check {
  const name = 'directory'
  try {
    assertWritable(path)
  } catch (error) {
    return failed(name, messageOf(error), null)
  }
  const fine = ok(name, `${path} can be written`)
  if (user === null || variables['QS_ALLOW_READABLE_KEYS'] === '1') return fine
  if (user === ROOT) {
    const { uid: owner, gid } = statSync(path)
    return owner === ROOT
      ? warning(
          name,
          `${path} can be written, by root: whoever breaks into a process then owns this machine`,
          'Make a user for it, and give it the directory (docs/operations.md, "Installing")',
        )
      : warning(
          name,
          `this is root, and ${path} belongs to the user with the id ${owner}, who cannot read what is made there now: its next start will fail`,
          `Type the command as that user; if something was made already, \`chown -R ${owner}:${gid} ${path}\``,
        )
  }
  const foreign = foreignIn(path, user)
  if (foreign === null) return fine
  const whose = `${foreign.file} belongs to the user with the id ${foreign.owner}, and this is the user with the id ${user}`
  const why = foreign.owner === ROOT ? ': a command was once typed as root' : ''
  return {
    ...failed(
      name,
      `${whose}${why}`,
      `As root, \`chown -R ${user}:${statSync(path).gid} ${path}\``,
    ),
    isMisconfigured: true,
  }
}

/** The first file of another user, of those that processes write. */
function foreignIn(path: string, user: number) {
  const look = (
    file: string,
    depth: number,
  ): { readonly file: string; readonly owner: number } | null => {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return null // Redis deletes files.
    if (stats.uid !== user) return { file, owner: stats.uid }
    if (!stats.isDirectory() || depth === 0) return null
    return first(readdirSync(file), (entry) => look(join(file, entry), depth - 1))
  }
  const written = readdirSync(path).filter((entry) => WRITTEN.test(entry))
  return first(written.sort(), (entry) => look(join(path, entry), DEPTH_MAX))
}

function first<T>(entries: readonly string[], find: (entry: string) => T | null): T | null {
  for (const entry of entries) {
    const found = find(entry)
    if (found !== null) return found
  }
  return null
}

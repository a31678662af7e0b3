/** Runs the `quorumscan` command, with errors as sentences. */

import { isErrno, messageOf } from '@quorumscan/runtime'
import { CommanderError } from 'commander'
import type { Environment } from './environment.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { tell } from './options.ts'
import { runCommandLine } from './program.ts'
import type { Rig } from './rig.ts'

/** Returns the exit status, one of `EXIT`. */
export async function main(
  args: readonly string[],
  environment: Environment,
  rig: Rig | null = null,
): Promise<number> {
  // Whoever reads has seen enough, as `head` does; on a full disk the output is lost.
  process.stdout.on('error', (error) =>
    process.exit(isErrno(error, 'EPIPE') ? EXIT.unread : EXIT.failed),
  )
  try {
    return await runCommandLine(args, environment, rig)
  } catch (error) {
    // commander has printed its own errors and, when asked, the help.
    if (!(error instanceof CommanderError)) tell(`quorumscan: ${messageOf(error)}`)
    return exitCodeOf(error)
  }
}

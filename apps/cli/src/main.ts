/** Entry of the `quorumscan` command: runs it, and prints errors as sentences. */
import { isErrno, messageOf } from '@quorumscan/runtime'
import { CommanderError } from 'commander'
import { readEnvironment } from './environment.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { printError } from './options.ts'
import { runCommandLine } from './program.ts'
import type { Rig } from './rig.ts'
import { trustPeers } from './trust.ts'

/** Returns the exit status, one of `EXIT`. */
export async function main(
  args: readonly string[],
  environment = readEnvironment(),
  rig: Rig | null = null,
): Promise<number> {
  // A reader such as `head` closes the pipe when it has enough. On a full disk the output is lost.
  process.stdout.on('error', (error) =>
    process.exit(isErrno(error, 'EPIPE') ? EXIT.unread : EXIT.failed),
  )
  try {
    trustPeers(process.env)
    return await runCommandLine(args, environment, rig)
  } catch (error) {
    // commander has printed its own errors and, when asked, the help.
    if (!(error instanceof CommanderError)) printError(`quorumscan: ${messageOf(error)}`)
    return exitCodeOf(error)
  }
}

/** Entry of the `quorumscan` command; the bootstrap enters here too. */

import { isErrno, messageOf } from '@quorumscan/runtime'
import { CommanderError } from 'commander'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { tell } from './options.ts'
import { runCommandLine } from './program.ts'

/** Returns the exit status, one of `EXIT`. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever reads has seen enough, as `head` does; on a full disk the output is lost.
  process.stdout.on('error', (error) =>
    process.exit(isErrno(error, 'EPIPE') ? EXIT.unread : EXIT.failed),
  )
  try {
    return await runCommandLine(args, {
      cwd: process.cwd(),
      redisServer: process.env['REDIS_SERVER'] || 'redis-server',
    })
  } catch (error) {
    // commander has printed its own errors and, when asked, the help.
    if (!(error instanceof CommanderError)) tell(`quorumscan: ${messageOf(error)}`)
    return exitCodeOf(error)
  }
}

/** Entry of the `quorumscan` command; the bootstrap enters here too. */
import { CommanderError } from 'commander'
import { ClusterError, UsageError } from '../cluster-error.ts'
import { runCommandLine } from './program.ts'

/** Exit codes: 0 done, 1 it could not be done, 2 the command line makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever reads has seen enough, as `head` does; a full disk is no better.
  process.stdout.on('error', () => process.exit(1))
  try {
    return await runCommandLine(args, {
      cwd: process.cwd(),
      redisServer: process.env['REDIS_SERVER'] || 'redis-server',
    })
  } catch (error) {
    // commander has printed its own errors and, when asked, the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const text = error instanceof ClusterError ? error.message : describeBug(error)
    process.stderr.write(`quorumscan: ${text}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Entry of the `quorumscan` command of the test rig; the bootstrap enters here too. */
import { readEnvironment, main as runCli } from '@quorumscan/cli'
import { RIG } from './cluster-commands.ts'

/** Returns the exit status. */
export function main(args: readonly string[]): Promise<number> {
  return runCli(args, readEnvironment(), RIG)
}

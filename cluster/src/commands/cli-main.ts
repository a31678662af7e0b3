/** Entry of the `quorumscan` command of the test rig; the bootstrap enters here too. */
import { main as runCli } from '../cli/cli-main.ts'
import { readEnvironment } from '../cli/environment.ts'
import { RIG } from './cluster-commands.ts'

/** Returns the exit status. */
export function main(args: readonly string[]): Promise<number> {
  return runCli(args, readEnvironment(import.meta.url, '../'), RIG)
}

/** Entry of the `quorumscan` command of operators and of readers of names. */
import { main as runCli } from './cli-main.ts'
import { readEnvironment } from './environment.ts'

/** Returns the exit status. */
export function main(args: readonly string[]): Promise<number> {
  return runCli(args, readEnvironment(import.meta.url, '../../'))
}

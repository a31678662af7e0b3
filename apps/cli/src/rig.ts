/** What a command gets, and what a test rig adds to the program. */
import type { Clock } from '@quorumscan/base'
import type { Command } from 'commander'
import type { Examples } from './examples.ts'
import type { Groups } from './help.ts'
import type { LocalCluster } from './local-cluster.ts'

/** What every command gets. */
export type CommandContext = {
  readonly clock: Clock
  readonly redisServer: string
  readonly cluster: LocalCluster
  /** Makes a command below the program, or below `parent`, with the option `--data-dir`. */
  readonly command: MakeCommand
  readonly exitWith: (code: number) => void
}
export type MakeCommand = (name: string, description: string, parent?: Command) => Command

/** What a test rig adds to the program: its cluster, and the commands that control it. */
export type Rig = {
  readonly description: string
  readonly cluster: LocalCluster
  readonly groups: Groups
  readonly examples: Examples
  addCommands(context: CommandContext): void
}

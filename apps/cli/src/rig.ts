/** The context of a command, and what a test rig adds to the program. */
import type { Clock } from '@quorumscan/base'
import type { Command } from 'commander'
import type { Environment } from './environment.ts'
import type { LocalCluster } from './local-cluster.ts'

/** The options of a command with a data directory. */
export type Common = { dataDir: string; json?: boolean }

type MakeCommand = (name: string, description: string, parent?: Command) => Command

/** The context of every command. */
export type CommandContext = Pick<Environment, 'redisServer' | 'mains'> & {
  readonly clock: Clock
  readonly cluster: LocalCluster
  /** Makes a command below the program, or below `parent`, with the options `--json` and `--data-dir`. */
  readonly command: MakeCommand
  /** As `command`, without a data directory. */
  readonly plain: MakeCommand
  /** Makes a command that only has commands below it. */
  readonly group: (name: string, description: string) => Command
  /** Commands that are added next are listed below this heading. */
  readonly section: (heading: string) => void
  readonly exitWith: (code: number) => void
}

/** What a test rig adds to the program: its cluster, and the commands that control it. */
export type Rig = {
  readonly description: string
  readonly cluster: LocalCluster
  readonly examples: readonly string[]
  addCommands(context: CommandContext): void
}

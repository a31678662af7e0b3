/** The context of a command, and what a test rig adds to the program. */
import type { Clock } from '@quorumscan/base'
import type { JobFailure } from '@quorumscan/jobs'
import type { AnsConfigInput, DataDirectory, RulesInForce } from '@quorumscan/operator'
import type { NodeJobs } from '@quorumscan/operator/jobs'
import { UsageError } from '@quorumscan/runtime'
import type { Command, CommandOptions } from 'commander'
import type { Environment } from './environment.ts'

/** The options of a command with a data directory. */
export type Common = { dataDir: string; json?: boolean }

type MakeCommand = (
  name: string,
  description: string,
  parent?: Command,
  options?: CommandOptions,
) => Command

/** The context of every command. */
export type CommandContext = Pick<Environment, 'redisServer' | 'entryFiles' | 'isTerminal'> & {
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

/** The cluster in a data directory, which commands use if no other network is named. Only a test rig has one. */
export type LocalCluster = {
  /** The addresses of its nodes and its validator. @throws {NoReplyError} If it does not run. */
  addresses(directory: DataDirectory): Promise<ClusterAddresses>
  /** What its control plane reports, as text and as a value. @throws {NoReplyError} If it does not run. */
  status(directory: DataDirectory): Promise<StatusReport>
  /** The rules of the name service that enough nodes agree on. */
  rules(directory: DataDirectory): Promise<RulesInForce>
  /** Changes the rules, confirmed by a quorum; returns those that are then in force. */
  setRules(directory: DataDirectory, change: AnsConfigInput): Promise<RulesInForce>
  /** The job queues of each node; null where its Redis does not answer. */
  jobs(
    directory: DataDirectory,
  ): Promise<readonly { readonly node: string; readonly jobs: NodeJobs | null }[]>
  /** Adds a dropped job of a node again. */
  retryJob(directory: DataDirectory, node: string, dropped: JobFailure): Promise<void>
  /** Repairs the log of a cluster that runs, or of one that is stopped, which it leaves so. */
  repairLog(directory: DataDirectory, options: RepairOptions): Promise<LogReport>
}

export type RepairOptions = {
  readonly isCutAllowed: boolean
  readonly redisServer: string
  readonly clock: Clock
}

export type ClusterAddresses = {
  readonly nodes: readonly { readonly name: string; readonly url: string; readonly isUp: boolean }[]
  readonly validatorUrl: string
}

export type StatusReport = {
  readonly text: string
  readonly value: unknown
  readonly exitCode?: number
}

/** The result of a command, as text for a person and as JSON. */
export type LogReport = { readonly isWhole: boolean; readonly text: string; readonly json: unknown }

function refuse(what: string): never {
  throw new UsageError(`no cluster runs on this machine: ${what}`)
}

/** An operator has no cluster: each command reports how to name the network instead. */
export const NO_CLUSTER: LocalCluster = {
  addresses: async () =>
    refuse('name the genesis with `--genesis` and the nodes with `--members` or `--scan`'),
  status: async () => refuse("name the operator's configuration with `--config`"),
  rules: async () => refuse('name a scan node with `--scan`'),
  setRules: async () =>
    refuse('confirm for one super-validator, with `--key`, `--scan` and `--synchronizer`'),
  jobs: async () => refuse("name an operator's role and configuration, such as `sv --config FILE`"),
  retryJob: async () => refuse('name the configuration with `--config`'),
  repairLog: async () => refuse("name the synchronizer's configuration with `--config`"),
}

/** `cometbft`: the engine by which members order the log together. */
import type { Clock } from '@quorumscan/base'
import { dataDirectory } from '@quorumscan/operator'
import { installEngine } from '@quorumscan/operator/engine'
import { UsageError } from '@quorumscan/runtime'
import type { Command } from 'commander'
import { print, slowly } from './options.ts'
import { readGenesis } from './verify.ts'

/** @param command - Makes one below `parent`, with the option `--data-dir`. */
export function addCometbftCommands(
  program: Command,
  command: (name: string, description: string, parent: Command) => Command,
  clock: Clock,
): void {
  const cometbft = program
    .command('cometbft')
    .description('the engine by which super-validators order the log together')
    .helpCommand(false)
  cometbft
    .command('install')
    .description('build the pinned version with Go, unless there is one that may be used')
    .option('--json', 'print where it is as JSON')
    .action(async (options: { json?: boolean }) => {
      const path = await slowly(
        'building CometBFT, which takes minutes the first time',
        clock,
        () => installEngine(process.env),
      )
      print(options.json ? JSON.stringify({ path }) : path)
    })
  command('vote', 'let a super-validator vote that lost what it has signed', cometbft)
    .argument('<node>', 'sv-1 …')
    .option('--json', 'print who votes as JSON')
    .addHelpText(
      'after',
      `
It votes again by itself when nothing that it may have signed can come again.
This is needed only where nothing is ordered without it, which \`status\` says.
It may then sign one block twice: no harm while no more than f of them do.`,
    )
    .action(async (node: string, options: { dataDir: string; json?: boolean }) => {
      const directory = dataDirectory(options.dataDir)
      const { ordering } = readGenesis(directory.genesisFile)
      if (ordering.driver !== 'cometbft' || !ordering.validators.some(({ name }) => name === node))
        throw new UsageError(`${node} has no vote in this network`)
      const { letVote } = await import('@quorumscan/operator/engine')
      await slowly(`waiting for ${node}`, clock, () =>
        letVote(directory.engineDirectory(node), clock),
      )
      print(options.json ? JSON.stringify({ node }) : `${node} votes`)
    })
}

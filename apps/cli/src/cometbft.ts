/** `cometbft`: the engine by which members order the log together. */
import { dataDirectory, readGenesis } from '@quorumscan/operator'
import { installEngine } from '@quorumscan/operator/engine'
import { UsageError } from '@quorumscan/runtime'
import { answer, slowly } from './options.ts'
import type { CommandContext } from './rig.ts'

export function addCometbftCommands({ command, plain, group, clock }: CommandContext): void {
  const about = 'the engine by which super-validators order the log together'
  const cometbft = group('cometbft', about)
  plain(
    'install',
    'build the pinned version with Go, unless there is one that may be used',
    cometbft,
  ).action(async (options: { json?: boolean }) => {
    const path = await slowly('building CometBFT, which takes minutes the first time', clock, () =>
      installEngine(process.env),
    )
    answer(options, { path }, path)
  })
  command('vote', 'let a super-validator vote that lost what it has signed', cometbft)
    .argument('<node>', 'sv-1 …')
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
      answer(options, { node }, `${node} votes`)
    })
}

/** `cometbft`: the engine with which members order the log together. */
import { dataDirectory, readGenesis } from '@quorumscan/operator'
import { forceVote, installEngine } from '@quorumscan/operator/engine'
import { UsageError } from '@quorumscan/runtime'
import { printResult, setHintOption, withProgress } from './options.ts'
import type { CommandContext, Common } from './rig.ts'

type VoteFlags = Common & { config?: string }

export function addCometbftCommands({ command, plain, group, clock }: CommandContext): void {
  const about = 'the engine with which super-validators order the log together'
  const cometbft = group('cometbft', about)
  const install = 'build the pinned version with Go, unless a usable one is installed'
  plain('install', install, cometbft).action(async (options: { json?: boolean }) => {
    const progress = 'building CometBFT, which takes minutes the first time'
    const path = await withProgress(progress, clock, () => installEngine(process.env))
    printResult(options, { path }, path)
  })
  command('vote', 'allow a super-validator that lost its vote state to vote', cometbft)
    .argument('[node]', 'sv-1 …; with --config: its own')
    .option('--config <file>', 'of an operator: the configuration of `run sv`')
    .addHelpText(
      'after',
      `
It votes again by itself once it cannot double-sign. Use this command only
if no entry is ordered without its vote, which \`status\` reports. It may then
double-sign at one height, which up to f members may do without harm.`,
    )
    .action(async (named: string | undefined, options: VoteFlags) => {
      const { directory, node, genesis } = await memberOf(named, options)
      const { ordering } = genesis
      if (ordering.driver !== 'cometbft' || !ordering.validators.some(({ name }) => name === node))
        throw new UsageError(
          `${node} has no vote in this network: name one of its super-validators`,
        )
      await withProgress(`waiting for ${node}`, clock, () =>
        forceVote(directory.engineDirectory(node), clock),
      )
      printResult(options, { node }, `${node} votes`)
    })
}

/** The member of `--config`, or the one that is named of the local cluster. */
async function memberOf(named: string | undefined, { config, dataDir }: VoteFlags) {
  if (config !== undefined) {
    setHintOption('--config', config)
    const { readOperatorConfig } = await import('@quorumscan/operator/run')
    const { directory, genesis, name } = readOperatorConfig('sv', config, () => [])
    if (named !== undefined && named !== name)
      throw new UsageError(`${config} is the configuration of ${name}, not of ${named}`)
    return { directory, genesis, node: name }
  }
  if (named === undefined)
    throw new UsageError('name a node of the local cluster, or an operator with `--config`')
  const directory = dataDirectory(dataDir)
  return { directory, genesis: readGenesis(directory.genesisFile), node: named }
}

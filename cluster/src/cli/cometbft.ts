/** `cometbft`: the engine by which members order the log together. */
import type { Clock } from '@quorumscan/base'
import type { Command } from 'commander'
import { installEngine } from '../engine/install-engine.ts'
import { print, slowly } from './options.ts'

export function addCometbftCommands(program: Command, clock: Clock): void {
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
}

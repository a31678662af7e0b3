/** `check`: compares the replicas of a network. */
import { askSignedStates } from '@quorumscan/operator'
import { judgeStates } from './check.ts'
import { locateNodes, type NetworkFlags, networkOf, ofAnyNetwork } from './network.ts'
import { answer, slowly } from './options.ts'
import type { CommandContext } from './rig.ts'

type Flags = NetworkFlags & { json?: boolean }

export function addCheckCommand({ command, clock, cluster, exitWith }: CommandContext): void {
  ofAnyNetwork(command('check', 'compare the replicas by the state that each node signs'))
    .addHelpText(
      'after',
      '\nExit status: 0 all are equal, 1 they differ, 3 one is behind, 4 one is silent.',
    )
    .action(async (options: Flags) => {
      const network = await networkOf(options, cluster)
      const signed = await slowly('waiting for what the nodes sign', clock, async () =>
        askSignedStates(0, await locateNodes(network, clock)),
      )
      const { exitCode, text, json } = judgeStates(signed)
      exitWith(exitCode)
      answer(options, json, text)
    })
}

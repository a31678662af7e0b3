/** The commands about single processes: kill, pause, resume, restart and wipe. */

import { type CommandContext, type Common, print, printResult, withProgress } from '@quorumscan/cli'
import { stateLabel } from '@quorumscan/errors/node-words'
import { UsageError } from '@quorumscan/runtime'
import { callControl, statusOf } from '../control/client.ts'
import type { Target } from '../faults/effects.ts'
import { PARTS, type Part } from '../faults/fault-spec.ts'
import { SYNCHRONIZER, VALIDATOR } from '../rig/cluster-shape.ts'
import { type ClusterStatus, servicesOf } from '../rig/status.ts'

/** Each command: its description, and the result in words. */
const SIGNALS = {
  kill: ['SIGKILL processes', 'is killed'],
  pause: ['SIGSTOP processes: they hang', 'is paused'],
  resume: ['SIGCONT paused processes', 'is resumed'],
  restart: ['stop and start processes', 'was restarted'],
} as const

const TARGET_HELP = 'sv-1 …, validator or synchronizer; after each, one of its processes'

export function addNodeCommands({ command, clock }: CommandContext): void {
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    const [description, done] = SIGNALS[name]
    command(name, description)
      .argument('<target...>', TARGET_HELP)
      .addHelpText('after', `\nProcesses of a node: ${PARTS.join(', ')}.`)
      .action(async (words: string[], options: Common) => {
        for (const target of targetsOf(words, await statusOf(options))) {
          const { node, part } = target
          await withProgress(`waiting for ${node}`, clock, () =>
            callControl(options, ({ nodes }) => nodes[name].mutate(target)),
          )
          const what = part === null ? node : `the ${part} of ${node}`
          const isAwaited = name === 'restart' && part === null
          const state = isAwaited ? ` and ${stateOf(await statusOf(options), node)}` : ''
          if (!options.json) print(`${what} ${done}${state}`)
        }
        if (options.json) printResult(options, await statusOf(options), '')
      })
  }

  command('wipe', 'delete a replica; its process rebuilds it from the log')
    .argument('<target>', 'sv-1 … or validator')
    .option('--disk', 'delete all data on the disk of a member except its keys')
    .action(async (node: string, options: Common & { disk?: boolean }) => {
      const { disk = false } = options
      await withProgress(`${node} rebuilds its replica`, clock, () =>
        callControl(options, ({ nodes }) => nodes.wipe.mutate({ node, disk })),
      )
      const status = await statusOf(options)
      printResult(options, status, `${node} was wiped and ${stateOf(status, node)}`)
    })
}

/**
 * The targets of words such as `sv-1 sv-2` or `sv-1 redis sv-2`: a process follows its node. Pure.
 *
 * @throws {UsageError} If a node does not exist.
 */
export function targetsOf(
  words: readonly string[],
  status: Pick<ClusterStatus, 'nodes' | 'members'>,
): Target[] {
  const nodes = [...status.nodes.map(({ name }) => name), VALIDATOR, SYNCHRONIZER]
  const partAfter = (node: string, word: string | undefined): Part | null => {
    const part = PARTS.find((one) => one === word) ?? null
    // Only members have a synchronizer of their own; after other nodes the word is the next node.
    const isNode = nodes.includes(word ?? '') && !status.members.some(({ name }) => name === node)
    return isNode ? null : part
  }
  const targets: Target[] = []
  for (let index = 0; index < words.length; index++) {
    const node = words[index] ?? ''
    if (!nodes.includes(node))
      throw new UsageError(`unknown node ${node}; the nodes are ${nodes.join(', ')}`)
    const part = partAfter(node, words[index + 1])
    if (part !== null) index += 1
    targets.push({ node, part })
  }
  return targets
}

/** Whether a node is up after a command that starts it. */
function stateOf(status: ClusterStatus, node: string): string {
  const service = servicesOf(status).find(({ name }) => name === node)
  const { state = 'down', detail = null } = service ?? {}
  return `is ${stateLabel[state]}${detail === null || state === 'up' ? '' : `: ${detail}`}`
}

/** The commands about single processes: kill, pause, resume, restart and wipe. */

import type { CommandContext, Common } from '@quorumscan/cli'
import { answer, print, slowly } from '@quorumscan/cli'
import { wordOfState } from '@quorumscan/errors/node-words'
import { UsageError } from '@quorumscan/runtime'
import { callControl } from '../control/client.ts'
import { PARTS, type Part } from '../faults/fault-spec.ts'
import type { Target } from '../faults/targets.ts'
import { SYNCHRONIZER, VALIDATOR } from '../rig/cluster-shape.ts'
import { type ClusterStatus, servicesOf } from '../rig/status.ts'

/** What each does, and what is said of its target then. */
const SIGNALS = {
  kill: ['SIGKILL processes', 'is killed'],
  pause: ['SIGSTOP processes: they hang', 'is paused'],
  resume: ['SIGCONT paused processes', 'runs on'],
  restart: ['stop processes that run, and start them', 'was started'],
} as const

export function addNodeCommands({ command, clock }: CommandContext): void {
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    const [description, done] = SIGNALS[name]
    command(name, description)
      .argument('<node...>', 'sv-1 …, validator or synchronizer; behind one, a process of it')
      .addHelpText('after', `\nProcesses of a node: ${PARTS.join(', ')}.`)
      .action(async (words: string[], options: Common) => {
        for (const target of targetsOf(words, await statusOf(options))) {
          const { node, part } = target
          await slowly(`waiting for ${node}`, clock, () =>
            callControl(options, ({ nodes }) => nodes[name].mutate(target)),
          )
          const what = part === null ? node : `the ${part} of ${node}`
          const isWatched = name === 'restart' && part === null
          const is = isWatched ? ` and ${howIs(await statusOf(options), node)}` : ''
          if (!options.json) print(`${what} ${done}${is}`)
        }
        if (options.json) answer(options, await statusOf(options), '')
      })
  }

  command('wipe', 'delete the replica of a node or of the validator; it is rebuilt from the log')
    .argument('<node>', 'sv-1 … or validator')
    .option('--disk', 'where all order together: all that sv-1 … has on its disk but its keys')
    .action(async (node: string, options: Common & { disk?: boolean }) => {
      const { disk = false } = options
      await slowly(`${node} rebuilds its replica`, clock, () =>
        callControl(options, ({ nodes }) => nodes.wipe.mutate({ node, disk })),
      )
      const status = await statusOf(options)
      answer(options, status, `${node} was wiped and ${howIs(status, node)}`)
    })
}

/**
 * What is meant by words such as `sv-1 sv-2` or `sv-1 redis sv-2`: a process of a node stands behind it. Pure.
 *
 * @throws {UsageError} If there is no such node.
 */
export function targetsOf(
  words: readonly string[],
  status: Pick<ClusterStatus, 'nodes' | 'members'>,
): Target[] {
  const nodes = [...status.nodes.map(({ name }) => name), VALIDATOR, SYNCHRONIZER]
  const partBehind = (node: string, word: string | undefined): Part | null => {
    const part = PARTS.find((one) => one === word) ?? null
    // Only those that order have a synchronizer as a process of theirs; behind others it is the next node.
    const isNode = nodes.includes(word ?? '') && !status.members.some(({ name }) => name === node)
    return isNode ? null : part
  }
  const targets: Target[] = []
  for (let index = 0; index < words.length; index++) {
    const node = words[index] ?? ''
    if (!nodes.includes(node))
      throw new UsageError(`there is no node ${node}; there are ${nodes.join(', ')}`)
    const part = partBehind(node, words[index + 1])
    if (part !== null) index += 1
    targets.push({ node, part })
  }
  return targets
}

function statusOf(options: Common) {
  return callControl(options, ({ cluster }) => cluster.status.query())
}

/** After what should have brought it up: whether it did. */
function howIs(status: ClusterStatus, node: string): string {
  const { state, detail } = servicesOf(status).find(({ name }) => name === node) ?? {
    state: 'down' as const,
    detail: null,
  }
  return `is ${wordOfState[state]}${detail === null || state === 'up' ? '' : `: ${detail}`}`
}

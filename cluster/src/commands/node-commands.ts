/** The commands about single processes: kill, pause, resume, restart and wipe. */

import type { Clock } from '@quorumscan/base'
import type { MakeCommand } from '@quorumscan/cli'
import { answer, print, slowly } from '@quorumscan/cli'
import { wordOfState } from '@quorumscan/errors/node-words'
import { dataDirectory } from '@quorumscan/operator'
import { UsageError } from '@quorumscan/runtime'
import { SYNCHRONIZER, VALIDATOR } from '../cluster-shape.ts'
import { type ControlClient, call, connectControl } from '../control/client.ts'
import { PARTS, type Part } from '../faults/fault-spec.ts'
import { type ClusterStatus, servicesOf } from '../status.ts'
import type { Target } from '../targets.ts'

type Common = { dataDir: string; json?: boolean }

const SIGNALS = [
  { name: 'kill', description: 'SIGKILL processes', done: 'is killed' },
  { name: 'pause', description: 'SIGSTOP processes: they hang', done: 'is paused' },
  { name: 'resume', description: 'SIGCONT paused processes', done: 'runs on' },
  { name: 'restart', description: 'stop processes that run, and start them', done: 'was started' },
] as const

export function addNodeCommands(command: MakeCommand, clock: Clock): void {
  for (const { name, description, done } of SIGNALS)
    command(name, description)
      .argument('<node...>', 'sv-1 …, validator or synchronizer; behind one, a process of it')
      .option('--json', 'print the status as JSON')
      .addHelpText('after', `\nProcesses of a node: ${PARTS.join(', ')}.`)
      .action(async (words: string[], options: Common) => {
        const client = connectControl(dataDirectory(options.dataDir))
        const targets = targetsOf(words, await statusOf(client))
        for (const target of targets) {
          const { node, part } = target
          await slowly(`waiting for ${node}`, clock, () => call(client.nodes[name].mutate(target)))
          const what = part === null ? node : `the ${part} of ${node}`
          const isWatched = name === 'restart' && part === null
          const is = isWatched ? ` and ${howIs(await statusOf(client), node)}` : ''
          if (!options.json) print(`${what} ${done}${is}`)
        }
        if (options.json) answer(options, await statusOf(client), '')
      })

  command('wipe', 'delete the replica of a node or of the validator; it is rebuilt from the log')
    .argument('<node>', 'sv-1 … or validator')
    .option('--disk', 'where all order together: all that sv-1 … has on its disk but its keys')
    .option('--json', 'print the status as JSON')
    .action(async (node: string, options: Common & { disk?: boolean }) => {
      const client = connectControl(dataDirectory(options.dataDir))
      const { disk = false } = options
      await slowly(`${node} rebuilds its replica`, clock, () =>
        call(client.nodes.wipe.mutate({ node, disk })),
      )
      const status = await statusOf(client)
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

function statusOf(client: ControlClient) {
  return call(client.cluster.status.query())
}

/** After what should have brought it up: whether it did. */
function howIs(status: ClusterStatus, node: string): string {
  const { state, detail } = servicesOf(status).find(({ name }) => name === node) ?? {
    state: 'down' as const,
    detail: null,
  }
  return `is ${wordOfState[state]}${detail === null || state === 'up' ? '' : `: ${detail}`}`
}

/** `check`: compares the replicas of a network by the states that the nodes signed. */

import {
  askSignedStates,
  EQUIVOCATED,
  type NodeSignedState,
  type SignedStates,
} from '@quorumscan/operator'
import { formatInstant } from '@quorumscan/verifier'
import { EXIT } from './exit-codes.ts'
import { locateNodes, type NetworkFlags, networkOf, withNetworkOptions } from './network.ts'
import { printResult, withProgress, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

/** Room for `sv-13`, which the root in the next column leaves in 80 columns. */
const NAME_COLUMNS = 8

const NO_STATE =
  'No node of this genesis answered with a state that it signed. Check that they run, that the addresses are ' +
  'those of scan nodes, and that the genesis is that of their network.'
const FAILED =
  'For each node that gave no signed state, its line has the reason. Check that the node runs, and that its address ' +
  'is right. Then run this again.'
const EQUIVOCATES =
  'A node that signed two states for one offset is faulty or lies. Keep its log file as evidence, and ask its ' +
  'operator. The others work without it.'
const LAGS =
  'A node that lags is catching up, is cut off from the log, or stopped signing because its replica differs from the ' +
  'log. `quorumscan status` and its log file show which. Run this again when it has caught up.'
const DIFFER =
  'Replicas differ if software or a disk is at fault. Keep the log files. Then wipe the replicas that fewer nodes ' +
  'agree with, so that they are rebuilt from the log.'

const HELP = '\nExit status: 0 equal, 1 different, 3 one lags, 4 no state or equivocation.'

export function addCheckCommand({ command, clock, cluster, exitWith }: CommandContext): void {
  withNetworkOptions(command('check', 'compare the replicas by the state that each node signs'))
    .addHelpText('after', HELP)
    .action(async (options: NetworkFlags & { json?: boolean }) => {
      const network = await networkOf(options, cluster)
      const signed = await withProgress('waiting for signed states', clock, async () =>
        askSignedStates(0, await locateNodes(network, clock)),
      )
      const { exitCode, text, json } = compareStates(signed)
      exitWith(exitCode)
      printResult(options, json, text)
    })
}

/** Whether all replicas are equal, and which could not be compared and why. Pure. */
export function compareStates({ offset, states }: SignedStates) {
  const rootCount = new Set(states.flatMap(({ state }) => state?.stateRoot ?? [])).size
  const equivocating = states.filter(({ reason }) => reason?.startsWith(EQUIVOCATED))
  const failed = states.filter((one) => one.reason !== null && !equivocating.includes(one))
  const lagging = states.filter(({ state, reason }) => state === null && reason === null)
  const lag = lagging.length === 1 ? 'lags' : 'lag'
  /** Nodes that cannot be compared, the reason, and advice to the operator. */
  const missing = [
    { nodes: equivocating, label: 'signed two states', advice: EQUIVOCATES, exitCode: EXIT.silent },
    { nodes: failed, label: 'gave no signed state', advice: FAILED, exitCode: EXIT.silent },
    { nodes: lagging, label: lag, advice: LAGS, exitCode: EXIT.inconclusive },
  ].filter(({ nodes }) => nodes.length > 0)
  const differ = rootCount > 1
  const isEqual = rootCount === 1 && missing.length === 0
  const compared = states.filter(({ state, reason }) => state !== null && reason === null).length
  const verdict = differ
    ? 'the replicas DIFFER'
    : isEqual
      ? 'all replicas are equal'
      : `${compared} of ${states.length} replicas are equal`
  const others = missing.map(({ nodes, label }) => `${namesOf(nodes)} ${label}`)
  const head =
    offset === null ? wrap(NO_STATE) : [[`at offset ${offset}: ${verdict}`, ...others].join('; ')]
  // Differing replicas come first: the rest can wait.
  const advice = differ ? [DIFFER] : missing.map((one) => one.advice)
  const lines = states.map((one) => `  ${one.node.padEnd(NAME_COLUMNS)}${describe(one, offset)}`)
  return {
    exitCode: differ ? EXIT.failed : (missing[0]?.exitCode ?? EXIT.done),
    text: [...head, ...lines, ...(offset === null ? [] : advice.flatMap(wrap))].join('\n'),
    json: { offset, equal: isEqual, states },
  }
}

function describe({ state, newest, reason }: NodeSignedState, offset: number | null): string {
  if (state !== null) return state.stateRoot
  if (reason !== null) return reason
  if (newest === null) return 'lags: it has signed nothing recently'
  const count = (offset ?? newest.offset) - newest.offset
  return `lags by ${count}: at offset ${newest.offset} since ${formatInstant(newest.recordTime)}`
}

function namesOf(states: readonly NodeSignedState[]): string {
  return states.map(({ node }) => node).join(', ')
}

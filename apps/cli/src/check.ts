/** What `check` says of the states that the nodes signed. Pure. */

import { CONTRADICTS_ITSELF, type SignedState, type SignedStates } from '@quorumscan/operator'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { EXIT } from './exit-codes.ts'
import { wrap } from './options.ts'

/** Room for `sv-13`, which the root beside it leaves in 80 columns. */
const NAME_COLUMNS = 8

const NO_STATE =
  'No node of this genesis answered with a state that it signed. Look whether they run, whether the addresses are ' +
  'those of scan nodes, and whether the genesis is that of their network.'
const SILENT =
  'Look whether those that did not answer run, and whether their addresses are right; then check again.'
const EQUIVOCATES =
  'A node that signs two states of one offset is faulty or lies. Keep its log as evidence, and ask its operator; the ' +
  'others do not need it.'
const LAGS =
  'A node without a state at this offset catches up, is cut off from the log, or stopped signing because its replica is ' +
  'not what the log made. `quorumscan status` and its log say which; check again when it has caught up.'
const DIFFER =
  'Replicas differ where software or a disk is at fault. Keep the logs, and have those that fewer agree with wiped, ' +
  'so that they are built again from the log.'

type Verdict = {
  readonly exitCode: number
  readonly text: string
  readonly json: unknown
}

/** Whether all replicas are equal; who is not compared, and why. */
export function judgeStates({ offset, states }: SignedStates): Verdict {
  const roots = new Set(states.flatMap(({ state }) => state?.stateRoot ?? []))
  const equivocating = states.filter(({ reason }) => reason?.startsWith(CONTRADICTS_ITSELF))
  const silent = states.filter((one) => one.reason !== null && !equivocating.includes(one))
  const behind = states.filter(({ state, reason }) => state === null && reason === null)
  const isEqual = roots.size === 1 && equivocating.length + silent.length + behind.length === 0
  const others = [
    ...(equivocating.length === 0 ? [] : [`${namesOf(equivocating)} signed two states`]),
    ...(silent.length === 0 ? [] : [`${namesOf(silent)} did not answer`]),
    ...(behind.length === 0 ? [] : [`${namesOf(behind)} ${behind.length === 1 ? 'lags' : 'lag'}`]),
  ]
  const missing = { equivocating, silent, behind }
  const compared = states.length - equivocating.length - silent.length - behind.length
  const verdict =
    roots.size > 1
      ? 'the replicas DIFFER'
      : isEqual
        ? 'all replicas are equal'
        : `${compared} of ${states.length} replicas are equal`
  const lines = states.map(
    (state) => `  ${state.node.padEnd(NAME_COLUMNS)}${describe(state, offset)}`,
  )
  return {
    exitCode: exitCodeOf(roots.size, missing),
    text: [
      offset === null
        ? wrap(NO_STATE).join('\n')
        : [`at offset ${offset}: ${verdict}`, ...others].join('; '),
      ...lines,
      ...(offset === null ? [] : adviceOn(roots.size, missing)).flatMap((text) => wrap(text)),
    ].join('\n'),
    json: { offset, equal: isEqual, states },
  }
}

type Missing = {
  readonly equivocating: readonly unknown[]
  readonly silent: readonly unknown[]
  readonly behind: readonly unknown[]
}

/** What to do next. Differing replicas come first: the rest can wait. */
function adviceOn(rootCount: number, { equivocating, silent, behind }: Missing): readonly string[] {
  if (rootCount > 1) return [DIFFER]
  return [
    ...(equivocating.length > 0 ? [EQUIVOCATES] : []),
    ...(silent.length > 0 ? [SILENT] : []),
    ...(behind.length > 0 ? [LAGS] : []),
  ]
}

function exitCodeOf(rootCount: number, { equivocating, silent, behind }: Missing): number {
  if (rootCount > 1) return EXIT.failed
  if (equivocating.length + silent.length > 0) return EXIT.silent
  return behind.length > 0 ? EXIT.inconclusive : EXIT.done
}

function describe({ state, newest, reason }: SignedState, offset: number | null): string {
  if (state !== null) return state.stateRoot
  if (reason !== null) return reason
  if (newest === null) return 'lags: it has signed nothing recently'
  const count = (offset ?? newest.offset) - newest.offset
  return `lags by ${count}: at offset ${newest.offset} since ${formatTime(newest.recordTime)}`
}

function namesOf(states: readonly SignedState[]): string {
  return states.map(({ node }) => node).join(', ')
}

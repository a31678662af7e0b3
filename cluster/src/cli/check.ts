/** What `check` says of the states that the nodes signed. Pure. */
import { formatInstant as formatTime } from '@quorumscan/verifier'
import type { SignedState, SignedStates } from '../signed-states.ts'
import { EXIT } from './exit-codes.ts'
import { wrap } from './options.ts'

/** Room for `sv-13`, which the root beside it leaves in 80 columns. */
const NAME_COLUMNS = 8

const NO_STATE =
  'No node of this genesis answered with a state that it signed. Look whether they run, whether the addresses are ' +
  'those of scan nodes, and whether the genesis is that of their network.'
const SILENT =
  'Look whether those that did not answer run, and whether their addresses are right; then check again.'
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
  const silent = states.filter(({ reason }) => reason !== null)
  const behind = states.filter(({ state, reason }) => state === null && reason === null)
  const isEqual = roots.size === 1 && silent.length + behind.length === 0
  const others = [
    ...(silent.length === 0 ? [] : [`${namesOf(silent)} did not answer`]),
    ...(behind.length === 0 ? [] : [`${namesOf(behind)} ${behind.length === 1 ? 'lags' : 'lag'}`]),
  ]
  const compared = states.length - silent.length - behind.length
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
    exitCode: exitCodeOf(roots.size, { silent, behind }),
    text: [
      offset === null
        ? wrap(NO_STATE).join('\n')
        : [`at offset ${offset}: ${verdict}`, ...others].join('; '),
      ...lines,
      ...(roots.size > 1 ? wrap(DIFFER) : silent.length > 0 && offset !== null ? wrap(SILENT) : []),
    ].join('\n'),
    json: { offset, equal: isEqual, states },
  }
}

function exitCodeOf(
  rootCount: number,
  { silent, behind }: { readonly silent: readonly unknown[]; readonly behind: readonly unknown[] },
): number {
  if (rootCount > 1) return EXIT.failed
  if (silent.length > 0) return EXIT.silent
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

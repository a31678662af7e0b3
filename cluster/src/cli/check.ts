/** What `check` says of the states that the nodes signed. Pure. */
import { formatTime } from '@quorumscan/model'
import type { SignedState, SignedStates } from '../signed-states.ts'
import { EXIT } from './exit-codes.ts'

/** Room for `sv-13`, which the root beside it leaves in 80 columns. */
const NAME_COLUMNS = 8

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
        ? 'no node answered with a state that it signed: look whether they run, and whether their addresses are right'
        : [`at offset ${offset}: ${verdict}`, ...others].join('; '),
      ...lines,
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

/** States, outcomes and numbers as text, for the terminal and the console. Pure. */
import { isAnswer, type NodeState } from '@quorumscan/errors/node-words'
import type { ClusterStatus } from '../rig/status.ts'

/** The color of a state; `idle`: unknown. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle'

/** The sign of a state, which needs no color, and its tone. */
export const signOfState: Readonly<Record<NodeState, { readonly sign: string; tone: Tone }>> = {
  up: { sign: '●', tone: 'good' },
  starting: { sign: '◐', tone: 'warn' },
  'catching-up': { sign: '◐', tone: 'warn' },
  silent: { sign: '…', tone: 'warn' },
  paused: { sign: '❚❚', tone: 'warn' },
  down: { sign: '✕', tone: 'bad' },
  unknown: { sign: '?', tone: 'idle' },
}

/** `good`: an answer. `bad`: no reply, or conflicting answers. `warn`: a refusal for another reason. */
export function toneOfOutcome(outcome: string): Tone {
  if (isAnswer(outcome)) return 'good'
  return ['unreachable', 'disputed', 'CONSENSUS_DISPUTED'].includes(outcome) ? 'bad' : 'warn'
}

type Members = Pick<ClusterStatus, 'members'>

/** The members whose block vote is missing in the newest block that a member reports. */
export function missedBlockVotes({ members }: Members): readonly string[] {
  const reports = members.flatMap(({ ordering }) => ordering ?? [])
  const [newest] = reports.toSorted((one, other) => other.height - one.height)
  return newest?.absent ?? []
}

/** The engine of a member in a few words. */
export function engineSummary(
  { ordering }: Pick<Members['members'][number], 'ordering'>,
  missed: boolean,
): string {
  if (ordering === null) return 'no report'
  const { height, round, connected } = ordering
  return [
    `block ${height}`,
    ...((round ?? 0) > 0 ? [`round ${round}`] : []),
    `${connected.length} engines connected`,
    ...(missed ? ['block vote missing'] : []),
  ].join(', ')
}

/** Milliseconds, rounded. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–'
  return `${Number(ms.toFixed(ms < 10 ? 1 : 0))} ms`
}

/** Seconds with at most one decimal: 20 s, 3.4 s. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}

/** A duration in milliseconds below a second, otherwise in seconds. */
export function duration(ms: number | null): string {
  return ms === null || ms < 1000 ? milliseconds(ms) : seconds(ms)
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Bytes, rounded. */
export function bytes(count: number | null): string {
  if (count === null) return 'unknown'
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  const value = count / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`
}

/** Keeps both ends of a text that is too long: identifiers differ at either end. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const tail = Math.floor(length / 3)
  return `${text.slice(0, length - tail - 1)}…${text.slice(-tail)}`
}

/** States, outcomes and numbers as a person reads them, on a terminal and on the page alike. Pure. */
import { isAnswer, type NodeState } from '@quorumscan/errors/node-words'
import type { ClusterStatus, MemberStatus } from '../rig/status.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'idle'

/** Of a state: a sign that needs no color. */
export const signOfState: Readonly<Record<NodeState, { readonly sign: string; tone: Tone }>> = {
  up: { sign: '●', tone: 'good' },
  starting: { sign: '◐', tone: 'warn' },
  'catching-up': { sign: '◐', tone: 'warn' },
  silent: { sign: '…', tone: 'warn' },
  paused: { sign: '❚❚', tone: 'warn' },
  down: { sign: '✕', tone: 'bad' },
  unknown: { sign: '?', tone: 'idle' },
}

/** Whether an outcome of a lookup is an answer, a refusal, or nothing at all. */
export function toneOfOutcome(outcome: string): Tone {
  if (isAnswer(outcome)) return 'good'
  return ['unreachable', 'disputed', 'CONSENSUS_DISPUTED'].includes(outcome) ? 'bad' : 'warn'
}

/** The members whose votes the most advanced member missed. */
export function missedVotes({ members }: Pick<ClusterStatus, 'members'>): readonly string[] {
  const reports = members.flatMap(({ ordering }) => ordering ?? [])
  const [newest] = reports.toSorted((one, other) => other.height - one.height)
  return newest?.absent ?? []
}

/** How a member orders with the others, in a few words. */
export function orderingWords(
  { ordering }: Pick<MemberStatus, 'ordering'>,
  missed: boolean,
): string {
  if (ordering === null) return 'says nothing'
  const { height, round, connected } = ordering
  return [
    `block ${height}`,
    ...((round ?? 0) > 0 ? [`round ${round}`] : []),
    `${connected.length} engines connected`,
    ...(missed ? ['misses votes'] : []),
  ].join(', ')
}

/** Milliseconds with no more digits than mean something. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–'
  return `${Number(ms.toFixed(ms < 10 ? 1 : 0))} ms`
}

/** With a tenth where there is one: 20 s, 3.4 s. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`
}

/** A duration in the unit that suits it. */
export function duration(ms: number | null): string {
  return ms === null || ms < 1000 ? milliseconds(ms) : seconds(ms)
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Bytes with no more digits than mean something. */
export function bytes(count: number | null): string {
  if (count === null) return 'unknown'
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  const value = count / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`
}

/** Keeps both ends of a text that is too long: identifiers differ at either. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const tail = Math.floor(length / 3)
  return `${text.slice(0, length - tail - 1)}…${text.slice(-tail)}`
}

/** What the page says about the state of the cluster. Pure. */
import { wordOfState } from '@quorumscan/errors/node-words'
import type { FaultSpec, LieKind, State, Status } from './api.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'idle'

/** A state in words, with a sign that needs no colour; unknown while nobody tells it. */
export const states: Readonly<Record<State, { word: string; sign: string; tone: Tone }>> = {
  up: { word: wordOfState.up, sign: '●', tone: 'good' },
  starting: { word: wordOfState.starting, sign: '◐', tone: 'warn' },
  'catching-up': { word: wordOfState['catching-up'], sign: '◐', tone: 'warn' },
  silent: { word: wordOfState.silent, sign: '…', tone: 'warn' },
  paused: { word: wordOfState.paused, sign: '❚❚', tone: 'warn' },
  down: { word: wordOfState.down, sign: '✕', tone: 'bad' },
  unknown: { word: 'unknown', sign: '?', tone: 'idle' },
}

/** Lies in words, in the order in which they are offered. */
const lies: Readonly<Record<LieKind, string>> = {
  value: 'names belong to the liar',
  invent: 'unregistered names exist',
  deny: 'registered names do not exist',
  equivocate: 'the truth for some, a lie for others',
  stale: 'yesterday’s answers as today’s',
  garbage: 'random bytes',
  oversize: '100 MB per answer',
  trickle: 'one byte a second',
  'content-type': 'the truth, called text/html',
  redirect: 'sends everybody elsewhere',
  'other-name': 'the entry of another name',
  signature: 'a signature that does not fit',
  head: 'a head far beyond the log',
  withhold: 'no signed state, no proof',
  confirm: 'confirms what does not exist',
  against: 'asks to give good payments back',
  flood: 'submits as much as it can',
}

type WithoutNode<Spec> = Spec extends unknown ? Omit<Spec, 'node'> : never
type Row = readonly [id: string, words: string, fault: WithoutNode<FaultSpec>]

const lieBreaks = (Object.keys(lies) as LieKind[]).map(
  (lie): Row => [`lie ${lie}`, `${lie}: ${lies[lie]}`, { kind: 'lie', lie }],
)
/** Some that are no lies; the command line has all, with every option. */
const otherBreaks: readonly { readonly title: string; readonly faults: readonly Row[] }[] = [
  {
    title: 'Network',
    faults: [
      ['slow', 'slow by 300 ms', { kind: 'slow', edge: 'http', latencyMs: 300, jitterMs: 100 }],
      ['drop', 'connections go silent, 30 %', { kind: 'drop', edge: 'http', rate: 0.3 }],
      ['reset', 'connections reset', { kind: 'reset', edge: 'http' }],
      ['log', 'cut off from the log', { kind: 'partition', from: 'log' }],
      ['proxy', 'cut off from the proxy', { kind: 'partition', from: 'proxy' }],
      ['engines', 'cut off from the other engines', { kind: 'drop', edge: 'p2p' }],
    ],
  },
  {
    title: 'Machine',
    faults: [
      ['clock', 'clock 30 s behind', { kind: 'clock', offsetMs: -30_000 }],
      ['memory', 'Redis out of memory', { kind: 'memory' }],
      ['redis', 'Redis killed', { kind: 'kill', part: 'redis' }],
      ['cometbft', 'CometBFT killed', { kind: 'kill', part: 'cometbft' }],
    ],
  },
]
/** What only nodes have that order. */
const OF_MEMBERS = ['engines', 'cometbft']

type Breaks = readonly {
  readonly title: string
  readonly faults: readonly Break[]
}[]
type Break = { readonly id: string; readonly words: string; readonly fault: FaultSpec }

/** How a member orders with the others, in a few words. */
export function orderingWords({ ordering }: Status['members'][number], missed: boolean): string {
  if (ordering === null) return 'says nothing'
  const { height, round, connected } = ordering
  return [
    `block ${height}`,
    ...((round ?? 0) > 0 ? [`round ${round}`] : []),
    `${connected.length} engines connected`,
    ...(missed ? ['misses votes'] : []),
  ].join(', ')
}

/** What can be broken about a node, in the order in which it is offered; `isMember`: it orders, too. */
export function breaksOf(node: string, isMember: boolean): Breaks {
  return [{ title: 'Lies', faults: lieBreaks }, ...otherBreaks].map(({ title, faults }) => ({
    title,
    faults: faults
      .filter(([id]) => isMember || !OF_MEMBERS.includes(id))
      .map(([id, words, fault]) => ({ id, words, fault: { ...fault, node } })),
  }))
}

/** Whether an outcome of a lookup is an answer, a refusal, or nothing at all. */
export function toneOfOutcome(outcome: string): Tone {
  if (/^(verified|trusted)/.test(outcome)) return 'good'
  return outcome === 'unreachable' || outcome === 'disputed' || outcome === 'CONSENSUS_DISPUTED'
    ? 'bad'
    : 'warn'
}

/** Milliseconds with no more digits than mean something. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Bytes with no more digits than mean something. */
export function bytes(count: number | null): string {
  if (count === null) return 'unknown'
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.max(count, 1)) / 10))
  const value = count / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`
}

/** Keeps both ends of an identifier. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const tail = Math.floor(length / 3)
  return `${text.slice(0, length - tail - 1)}…${text.slice(-tail)}`
}

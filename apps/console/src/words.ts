/** What the page says about the state of the cluster. Pure. */
import { type NodeState, wordOfState } from 'quorumscan/node-words'
import type { FaultSpec, LieKind, Status } from './api.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'idle'

export type Headline = { readonly tone: Tone; readonly title: string; readonly detail: string }

/** The one sentence that matters: are lookups answered, and how much can still be lost? */
export function headlineOf(status: Status): Headline {
  const { n, f, readThreshold } = status.cluster
  const up = upCount(status)
  const counted = countedCount(status)
  const broken = counted < up ? `, ${up - counted} not to be counted on` : ''
  const detail = `n = ${n}, f = ${f}, need ${readThreshold}: ${up} up${broken}`
  const spare = counted - readThreshold
  if (spare < 0) return { tone: 'bad', title: 'Quorum lost: lookups refuse', detail }
  if (status.validator.state !== 'up')
    return { tone: 'warn', title: 'The validator is not up: no lookups by quorum', detail }
  const title = spare === 0 ? 'Answering, cannot lose any more' : `Can lose ${spare} more`
  return { tone: spare === 0 ? 'warn' : 'good', title, detail }
}

export type Stage = { readonly label: string; readonly tone: Tone; readonly text: string }

/** What works and what does not, beside plain lookups. */
export function stagesOf(status: Status): readonly Stage[] {
  const { confirmThreshold, n } = status.cluster
  const up = upCount(status)
  const members = status.members.filter(isUp).length
  const isOrdering =
    status.members.length === 0 ? isUp(status.synchronizer) : members >= confirmThreshold
  const liars = status.nodes.filter((node) => node.faults.some(({ spec }) => spec.kind === 'lie'))
  return [
    {
      label: 'Registrations',
      tone: up >= confirmThreshold && isOrdering ? 'good' : 'bad',
      text:
        up >= confirmThreshold
          ? `${up} of ${n} up, ${confirmThreshold} must confirm`
          : `stand still: ${up} of ${confirmThreshold} that must confirm`,
    },
    {
      label: 'Log',
      tone: isOrdering ? 'good' : 'bad',
      text: isOrdering ? 'entries are ordered' : 'stands still',
    },
    {
      label: 'Lying',
      tone: liars.length === 0 ? 'good' : liars.length <= status.cluster.f ? 'warn' : 'bad',
      text:
        liars.length === 0
          ? 'nobody that we know of'
          : `${liars.map(({ name }) => name).join(', ')} (tolerated: ${status.cluster.f})`,
    },
  ]
}

export function upCount(status: Status): number {
  return status.nodes.filter(isUp).length
}

/** Up, and neither lying nor cut off. */
export function countedCount(status: Status): number {
  return status.nodes.filter(({ isCounted }) => isCounted).length
}

function isUp(service: { readonly state: string }): boolean {
  return service.state === 'up'
}

/** A state in words, with a sign that needs no colour. */
export const states: Readonly<Record<NodeState, { word: string; sign: string; tone: Tone }>> = {
  up: { word: wordOfState.up, sign: '●', tone: 'good' },
  starting: { word: wordOfState.starting, sign: '◐', tone: 'warn' },
  'catching-up': { word: wordOfState['catching-up'], sign: '◐', tone: 'warn' },
  silent: { word: wordOfState.silent, sign: '?', tone: 'bad' },
  paused: { word: wordOfState.paused, sign: '❚❚', tone: 'warn' },
  down: { word: wordOfState.down, sign: '✕', tone: 'bad' },
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
  confirm: 'confirms what does not exist',
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

/** Keeps both ends of an identifier. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const tail = Math.floor(length / 3)
  return `${text.slice(0, length - tail - 1)}…${text.slice(-tail)}`
}

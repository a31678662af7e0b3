/**
 * The reader of votes with one mistake. Each once occurred, and the checkers must detect it.
 */
import type { Mutation } from '@quorumscan/verifier/testing'
import type { SimOptions } from './simulate.ts'

/** Options limit the run to lies and faults that reveal the mistake early. */
export type Mutant = Pick<SimOptions, 'mode' | 'nodeCount' | 'lies' | 'faults'> & {
  readonly mutation: Mutation
  /** Rules of which the mistake must break at least one. */
  readonly rules: readonly string[]
}

const ASK = 'packages/reader/src/voted/ask.ts'
const REPLY = 'packages/reader/src/voted/reply.ts'
const DECIDE = 'packages/reader/src/voted/decide.ts'
const BASE = 'packages/reader/src/reader-base.ts'
const THRESHOLD = "const threshold = votes(read.threshold ?? 'weak')"

/**
 * The answer of a client that treats an error as an absence. An error has no record time, so that such a client
 * cannot detect stale answers.
 */
const ABSENCES = `{
  kind: 'answer',
  point: {
    offset: flight.spec.pin ?? 0,
    recordTime: 4_000_000_000_000_000,
    historyHash: '0'.repeat(64),
  },
  body: new TextEncoder().encode(
    JSON.stringify({ results: flight.spec.items.map(() => ({ entry: null })) }),
  ),
}`

export const MUTANTS: readonly Mutant[] = [
  {
    mutation: {
      mistake: 'threshold f',
      file: BASE,
      text: THRESHOLD,
      by: `${THRESHOLD} - ((read.threshold ?? 'weak') === 'weak' ? 1 : 0)`,
    },
    mode: 'at-most-f',
    lies: ['invent', 'deny'],
    rules: ['truth', 'support'],
  },
  {
    mutation: {
      mistake: 'counting transport errors',
      file: REPLY,
      text: "onJudged(state, flight, { kind: 'failed', reason })",
      by: `onJudged(state, flight, ${ABSENCES})`,
    },
    mode: 'at-most-f',
    nodeCount: 4,
    faults: ['down'],
    // A wrong answer needs two dead nodes that are asked at once; else the read is disputed. Hung nodes are asked last.
    rules: ['truth', 'availability'],
  },
  {
    mutation: {
      mistake: 'counting a bare HTTP 404 as absence',
      file: REPLY,
      text: 'const judged = judgeReply(reply)',
      by: `const judged: Reply = reply.status === 404 ? ${ABSENCES} : judgeReply(reply)`,
    },
    mode: 'at-most-f',
    faults: ['notFound'],
    rules: ['truth'],
  },
  {
    mutation: {
      mistake: 'counting a node twice',
      file: 'packages/reader/src/voted/voted-reader.ts',
      text: '.map(({ name }) => name)',
      by: '.flatMap(({ name }) => [name, name])',
    },
    mode: 'at-most-f',
    lies: ['invent', 'deny'],
    rules: ['truth', 'support'],
  },
  {
    mutation: {
      mistake: 'counting an absence as a failure',
      file: REPLY,
      text: 'const { index: voter, counters } = source.node',
      by: `const { index: voter, counters } = source.node
        if (new TextDecoder().decode(vote.answer) === '{"entry":null}') return false`,
    },
    mode: 'at-most-f',
    rules: ['availability'],
  },
  {
    mutation: {
      mistake: 'reading without a pinned offset',
      file: 'packages/reader/src/voted/step.ts',
      text: 'askFirst(state, items, pin)',
      by: 'for (const { rounds } of items) rounds[rounds.length - 1].pin = null; askFirst(state, items, null)',
    },
    mode: 'at-most-f',
    rules: ['availability', 'monotonic-reads'],
  },
  {
    mutation: {
      mistake: 'expiry by the wall clock',
      file: DECIDE,
      text: 'isAbsence(group.vote.answer) ?',
      by: `isAbsence(group.vote.answer) ||
        !isEntryAnswer(group.vote.answer, item.asked.lookup, state.nowMicros) ?`,
    },
    mode: 'at-most-f',
    rules: ['truth'],
  },
  {
    mutation: {
      mistake: 'no maxAge',
      file: DECIDE,
      text: 'ageMs <= item.maxAgeMs',
      by: 'true',
    },
    mode: 'at-most-f',
    rules: ['freshness'],
  },
  {
    mutation: {
      mistake: 'a strong threshold of 2f+1 with n = 6',
      file: BASE,
      text: THRESHOLD,
      by: "const threshold = read.threshold === 'strong' ? 2 * faultyMax + 1 : votes(read.threshold ?? 'weak')",
    },
    mode: 'split-log',
    nodeCount: 6,
    rules: ['agreement', 'support'],
  },
  {
    mutation: {
      mistake: 'treating a slow node as unreachable',
      file: ASK,
      text: 'return node.isInsecure || isFailing(node.lanes[channelOf(item)])',
      by: `const lane = node.lanes[channelOf(item)]
        return isFailing(lane) || lane.flights.some(
        ({ sentAtMs }) => state.nowMs - Math.max(sentAtMs, lane.answeredAtMs) >= 1000)`,
    },
    mode: 'at-most-f',
    nodeCount: 4,
    faults: ['sluggish'],
    rules: ['wait'],
  },
  {
    mutation: {
      mistake: 'counting a stall of the reader as lateness of nodes',
      file: 'packages/reader/src/voted/voted-reader.ts',
      text: 'const STALL_MS = 250',
      by: 'const STALL_MS = Infinity',
    },
    mode: 'at-most-f',
    rules: ['availability', 'wait'],
  },
  {
    mutation: {
      mistake: 'ignoring the history hash',
      file: 'packages/reader/src/votes/tally.ts',
      text: 'a.historyHash === b.historyHash &&',
      by: '',
    },
    mode: 'at-most-f',
    lies: ['otherHistory'],
    rules: ['truth'],
  },
]

/**
 * The real reader with one broken decision. Each mistake once occurred, and the checkers must detect it.
 */
import { DECISIONS, type Decisions } from '@quorumscan/reader'
import { formatInstant, maxFaulty, thresholdVotes, utf8 } from '@quorumscan/verifier'
import type { SimOptions } from './simulate.ts'

/** Options limit the run to lies and faults that reveal the mistake early. */
export type Mutant = Pick<SimOptions, 'mode' | 'nodeCount' | 'lies' | 'faults'> & {
  readonly mistake: string
  readonly decisions: Decisions
  /** Rules of which the mistake must break at least one. */
  readonly rules: readonly string[]
}

// A reader that treats errors as answers has no record time for them, so it cannot detect stale answers.
const UNKNOWN = { recordTime: 4_000_000_000_000_000, historyHash: '0'.repeat(64) }

/** The answer of a client that treats an error as an absence. */
function absences(spec: { readonly atOffset: number | null; readonly itemCount: number }) {
  const results = new Array<string>(spec.itemCount).fill('{"entry":null}').join(',')
  return {
    kind: 'answer',
    point: { ...UNKNOWN, offset: spec.atOffset ?? 0 },
    body: utf8(`{"results":[${results}]}`),
  } as const
}

export const MUTANTS: readonly Mutant[] = [
  {
    mistake: 'threshold f',
    mode: 'at-most-f',
    lies: ['invent', 'deny'],
    rules: ['truth', 'support'],
    decisions: {
      ...DECISIONS,
      thresholdVotes: (threshold, nodeCount) =>
        threshold === 'weak' ? maxFaulty(nodeCount) : thresholdVotes(threshold, nodeCount),
    },
  },
  {
    mistake: 'counting transport errors',
    mode: 'at-most-f',
    nodeCount: 4,
    faults: ['down', 'hung'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      judgeReply: (reply, spec) =>
        reply instanceof Error ? absences(spec) : DECISIONS.judgeReply(reply, spec),
    },
  },
  {
    mistake: 'counting a bare HTTP 404 as absence',
    mode: 'at-most-f',
    faults: ['notFound'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      judgeReply: (reply, spec) =>
        !(reply instanceof Error) && reply.status === 404
          ? absences(spec)
          : DECISIONS.judgeReply(reply, spec),
    },
  },
  {
    mistake: 'counting a node twice',
    mode: 'at-most-f',
    lies: ['invent', 'deny'],
    rules: ['truth', 'support'],
    decisions: {
      ...DECISIONS,
      connections: ({ nodes }) => nodes.flatMap((_, index) => [index, index]),
    },
  },
  {
    mistake: 'counting an absence as a failure',
    mode: 'at-most-f',
    rules: ['availability'],
    decisions: { ...DECISIONS, isVote: (vote) => !DECISIONS.isAbsence(vote, 0) },
  },
  {
    mistake: 'reading without a pinned offset',
    mode: 'at-most-f',
    rules: ['availability', 'monotonic-reads'],
    decisions: { ...DECISIONS, atOffset: () => null },
  },
  {
    mistake: 'expiry by the wall clock',
    mode: 'at-most-f',
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      isAbsence: (vote, nowMicros) => {
        const { entry } = JSON.parse(new TextDecoder().decode(vote.answer))
        if (entry === null) return true
        return entry.expires_at <= formatInstant(nowMicros)
      },
    },
  },
  {
    mistake: 'no maxAge',
    mode: 'at-most-f',
    rules: ['freshness'],
    decisions: { ...DECISIONS, isStale: () => false },
  },
  {
    mistake: 'a strong threshold of 2f+1 with n = 6',
    mode: 'split-log',
    nodeCount: 6,
    rules: ['agreement', 'support'],
    decisions: {
      ...DECISIONS,
      thresholdVotes: (threshold, nodeCount) =>
        threshold === 'strong'
          ? 2 * maxFaulty(nodeCount) + 1
          : thresholdVotes(threshold, nodeCount),
    },
  },
  {
    mistake: 'treating a slow node as unreachable',
    mode: 'at-most-f',
    nodeCount: 4,
    faults: ['sluggish'],
    rules: ['wait'],
    decisions: {
      ...DECISIONS,
      isDown: (node) => DECISIONS.isDown(node) || node.isSilent,
    },
  },
  {
    mistake: 'counting a stall of the reader as lateness of nodes',
    mode: 'at-most-f',
    rules: ['availability', 'wait'],
    decisions: { ...DECISIONS, isStalled: () => false },
  },
  {
    mistake: 'ignoring the history hash',
    mode: 'at-most-f',
    lies: ['otherHistory'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      isSameVote: (a, b) => DECISIONS.isSameVote(a, { ...b, historyHash: a.historyHash }),
    },
  },
]

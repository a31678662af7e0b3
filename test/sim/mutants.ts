/**
 * The real reader with one decision broken. Each of these mistakes was made once, and the checkers must notice it.
 */
import { DECISIONS, type Decisions } from '@quorumscan/reader'
import { formatInstant, maxFaulty, thresholdVotes, utf8 } from '@quorumscan/verifier'
import type { SimOptions } from './simulate.ts'

/** What the run is limited to is what shows the mistake soonest. */
export type Mutant = Pick<SimOptions, 'mode' | 'nodeCount' | 'lies' | 'troubles'> & {
  readonly mistake: string
  readonly decisions: Decisions
  /** The rules of which at least one has to be broken. */
  readonly rules: readonly string[]
}

// A reader that takes errors for answers knows no record time, so it cannot detect stale answers.
const UNKNOWN = { recordTime: 4_000_000_000_000_000, historyHash: '0'.repeat(64) }

/** What a client makes of an error that it takes for "there is no such entry". */
function absences(asked: { readonly atOffset: number | null; readonly itemCount: number }) {
  const results = new Array<string>(asked.itemCount).fill('{"entry":null}').join(',')
  return {
    kind: 'answer',
    point: { ...UNKNOWN, offset: asked.atOffset ?? 0 },
    body: utf8(`{"results":[${results}]}`),
  } as const
}

export const MUTANTS: readonly Mutant[] = [
  {
    mistake: 'threshold f',
    mode: 'budget',
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
    mode: 'budget',
    nodeCount: 4,
    troubles: ['down', 'hung'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      judgeReply: (reply, asked) =>
        reply instanceof Error ? absences(asked) : DECISIONS.judgeReply(reply, asked),
    },
  },
  {
    mistake: 'counting a bare HTTP 404 as absence',
    mode: 'budget',
    troubles: ['notFound'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      judgeReply: (reply, asked) =>
        !(reply instanceof Error) && reply.status === 404
          ? absences(asked)
          : DECISIONS.judgeReply(reply, asked),
    },
  },
  {
    mistake: 'counting a node twice',
    mode: 'budget',
    lies: ['invent', 'deny'],
    rules: ['truth', 'support'],
    decisions: {
      ...DECISIONS,
      connections: ({ nodes }) => nodes.flatMap((_, index) => [index, index]),
    },
  },
  {
    mistake: 'absence as failure',
    mode: 'budget',
    rules: ['availability'],
    decisions: { ...DECISIONS, isVote: (vote) => !DECISIONS.isAbsence(vote, 0) },
  },
  {
    mistake: 'unpinned reads',
    mode: 'budget',
    rules: ['availability', 'monotony'],
    decisions: { ...DECISIONS, atOffset: () => null },
  },
  {
    mistake: 'expiry by the wall clock',
    mode: 'budget',
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
    mode: 'budget',
    rules: ['freshness'],
    decisions: { ...DECISIONS, isStale: () => false },
  },
  {
    mistake: 'strong as 2f+1 with n = 6',
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
    mistake: 'taking a slow node for an unreachable one',
    mode: 'budget',
    nodeCount: 4,
    troubles: ['sluggish'],
    rules: ['patience'],
    decisions: { ...DECISIONS, isGone: (node) => DECISIONS.isGone(node) || node.isSilent },
  },
  {
    mistake: 'calling nodes late for the time in which the reader stalled',
    mode: 'budget',
    rules: ['availability', 'patience'],
    decisions: { ...DECISIONS, isStalled: () => false },
  },
  {
    mistake: 'ignoring the history hash',
    mode: 'budget',
    lies: ['otherHistory'],
    rules: ['truth'],
    decisions: {
      ...DECISIONS,
      isSameVote: (a, b) => DECISIONS.isSameVote(a, { ...b, historyHash: a.historyHash }),
    },
  },
]

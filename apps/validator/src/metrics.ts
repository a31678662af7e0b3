/** What the scan proxy measures: outcomes of reads, and how every node does. */
import { type Clock, held, singleFlight } from '@quorumscan/base'
import { type Decided, isDecided, type NodeReply, type Outcome } from '@quorumscan/reader'
import type { Reader } from '@quorumscan/reader/voted'
import type { Metrics } from '@quorumscan/runtime'

const MS_PER_SECOND = 1000
const MICROS_PER_SECOND = 1_000_000

const REPLY_KINDS = ['answer', 'lagging', 'failed'] as const satisfies readonly NodeReply['kind'][]
const OUTCOME_KINDS: readonly Outcome['kind'][] = [
  ...(['verified', 'verified-absent', 'trusted', 'trusted-absent'] as const),
  ...(['disputed', 'insufficient', 'lagging'] as const),
]

export type ReadMetrics = ReturnType<typeof createReadMetrics>

/** @param nodes - Their names. */
export function createReadMetrics(metrics: Metrics, clock: Clock, nodes: readonly string[]) {
  const replyTimeOf = metrics.durations({
    name: 'node_reply_duration_seconds',
    help: 'Time until a request to a scan node ended, by node and outcome.',
    labels: ['node', 'outcome'],
    known: nodes.flatMap((node) => REPLY_KINDS.map((kind) => [node, kind])),
  })
  return {
    /** Counts a reply; the reader's `onReply`. */
    noteReply: ({ node, kind, durationMs }: NodeReply) =>
      replyTimeOf(node, kind).observe(durationMs / MS_PER_SECOND),
    recordEvidence: metrics.counted({
      name: 'evidence_total',
      help: 'Pairs of statements or block votes by which a node equivocates.',
      labels: ['node'],
      known: nodes.map((node) => [node]),
    }),
    noteFork: metrics.counted({
      name: 'forks_total',
      help: 'Offsets at which different histories were seen.',
    }),
    /** The reader, each of whose reads is counted and timed. */
    measured: (reader: Reader) => measuredReader(reader, metrics, clock),
  }
}

/** How many users the validator has, and what they take. */
export function measureUsers(
  metrics: Metrics,
  users: { count(): Promise<number>; bytes(): Promise<number> },
): void {
  // While a call hangs, no second call is made.
  const [count, bytes] = [singleFlight(() => users.count()), singleFlight(() => users.bytes())]
  metrics.sampled('gauge', {
    name: 'users',
    help: 'Users of the validator.',
    read: async () => [[[], await count()]],
  })
  metrics.sampled('gauge', {
    name: 'users_bytes',
    help: 'Memory of Redis that users and their rights take, estimated from a sample.',
    read: async () => [[[], await bytes()]],
  })
}

function measuredReader(reader: Reader, metrics: Metrics, clock: Clock): Reader {
  const readTimeOf = metrics.durations({
    name: 'read_duration_seconds',
    help: 'Time of a read by votes, by operation and outcome.',
    labels: ['operation', 'outcome'],
    known: OUTCOME_KINDS.map((kind) => ['lookup', kind]),
  })
  // One number per kind of outcome: a batch has up to 256 of them.
  const lookupCounts = held(
    { owner: 'validator', name: 'outcomes of lookups', kind: 'state', bound: OUTCOME_KINDS.length },
    new Map(OUTCOME_KINDS.map((kind) => [kind, 0])),
  )
  metrics.sampled('counter', {
    name: 'lookups_total',
    help: 'Lookups by outcome; those of a batch each count.',
    labels: ['outcome'],
    read: () => [...lookupCounts].map(([kind, count]) => [[kind], count] as const),
  })
  let newest: Decided | null = null
  measureNodes(reader, metrics)
  metrics.sampled('gauge', {
    name: 'quorum_offset',
    help: 'Highest offset at which enough nodes agreed.',
    read: () => [[[], reader.status().floor]],
  })
  metrics.sampled('gauge', {
    name: 'quorum_lag_seconds',
    help: 'Age of the record time of the newest answer that was agreed on.',
    // Without a value before the first answer.
    read: () => [
      [[], (clock.nowMicros() - (newest?.recordTime ?? Number.NaN)) / MICROS_PER_SECOND],
    ],
  })

  const note = (operation: string, startedMs: number, outcomes: readonly Outcome[]): void => {
    const worst = outcomes.find((outcome) => !isDecided(outcome)) ?? outcomes[0]
    if (worst === undefined) return
    const seconds = (clock.monotonicMs() - startedMs) / MS_PER_SECOND
    readTimeOf(operation, worst.kind).observe(seconds)
    if (isDecided(worst) && worst.offset >= (newest?.offset ?? 0)) newest = worst
  }
  return {
    ...reader,
    async lookup(lookups, options) {
      const startedMs = clock.monotonicMs()
      const outcomes = await reader.lookup(lookups, options)
      note('lookup', startedMs, outcomes)
      for (const { kind } of outcomes) lookupCounts.set(kind, (lookupCounts.get(kind) ?? 0) + 1)
      return outcomes
    },
    async read(request, options) {
      const startedMs = clock.monotonicMs()
      const outcome = await reader.read(request, options)
      // One of our own operations, so there are few.
      note(request.operation, startedMs, [outcome])
      return outcome
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  }
}

/** The metrics of each node: kind, name, help and value. */
const NODE_METRICS = [
  ['gauge', 'node_head_offset', 'Newest offset that the node claimed.', 'head'],
  [
    'counter',
    'node_votes_total',
    'Valid answers of the node: of the reads that asked it, and of the sample that asks all nodes.',
    'votes',
  ],
  [
    'counter',
    'node_dissents_total',
    'Valid answers of the node that differ from what was decided. Agreement is a sample.',
    'dissents',
  ],
  ['counter', 'node_errors_total', 'Requests that the node failed.', 'errors'],
] as const

function measureNodes(reader: Reader, metrics: Metrics): void {
  for (const [kind, name, help, key] of NODE_METRICS)
    metrics.sampled(kind, {
      name,
      help,
      labels: ['node'],
      read: () =>
        reader.status().nodes.map((node) => [[node.name], node[key] ?? Number.NaN] as const),
    })
}

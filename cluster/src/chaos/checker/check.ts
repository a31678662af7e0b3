/**
 * The verdict about a chaos run. It reads the history and the log, asks nobody, and shares no code with the
 * reader whose answers it judges. Unknown where there is too little to judge by.
 */
import type { Genesis } from '@quorumscan/consensus'
import { maxFaulty } from '@quorumscan/consensus'
import type { Finding, HistoryEvent, LogLine, Verdict } from '../history.ts'
import { checkAvailability } from './availability.ts'
import { checkLookups, checkMonotony } from './lookups.ts'
import { readTruth, type Truth } from './truth.ts'
import { checkStreams, checkWrites } from './writes.ts'

/** Below this nothing much was tried. */
const DECIDED_MIN = 10

export type CheckInput = {
  readonly history: readonly HistoryEvent[]
  readonly log: readonly LogLine[]
  readonly genesis: Genesis
}

export async function check(input: CheckInput): Promise<Verdict> {
  const { history, genesis } = input
  const truth = await readTruth(input.log, genesis)
  const isBeyond = history.some((event) => event.kind === 'run' && event.budget === 'beyond-f')
  const findings = [
    ...truth.findings,
    ...checkLookups(history, { truth, strongOnly: isBeyond }),
    ...checkMonotony(history),
    ...checkWrites(history, truth),
    ...checkStreams(history, truth),
    ...checkReplicas(history, { truth, genesis }),
    ...checkAvailability(history, maxFaulty(genesis.nodes.length)),
  ]
  const [first] = findings
  if (first !== undefined)
    return {
      verdict: 'invalid',
      sentence: `${first.rule}: ${first.sentence}${findings.length > 1 ? ` (and ${findings.length - 1} more)` : ''}`,
      findings,
    }
  return { ...(doubtAbout(history, { truth, genesis }) ?? valid(history, isBeyond)), findings }
}

type Told = Pick<Verdict, 'verdict' | 'sentence'>

/** @param isBeyond - Then weak answers promise nothing, and were not judged. */
function valid(history: readonly HistoryEvent[], isBeyond: boolean): Told {
  const judged = history.filter(
    (event) => event.kind === 'lookup' && (!isBeyond || event.quorum === 'strong'),
  )
  const decided = judged.filter(
    (event) => event.kind === 'lookup' && event.outcome.kind === 'decided',
  ).length
  const faults = history.filter((event) => event.kind === 'fault').length
  return {
    verdict: 'valid',
    sentence: [
      `${decided} ${isBeyond ? 'strong ' : ''}answers, all true at their offsets`,
      `${judged.length - decided} refusals`,
      `under ${faults} ${faults === 1 ? 'fault' : 'faults'}; nothing acknowledged was lost`,
    ].join(', '),
  }
}

/** Why nothing can be said, if so. */
function doubtAbout(
  history: readonly HistoryEvent[],
  known: { readonly truth: Truth; readonly genesis: Genesis },
): Told | null {
  const unknown = (sentence: string): Told => ({ verdict: 'unknown', sentence })
  const trouble = history.find((event) => event.kind === 'trouble')
  if (trouble !== undefined) return unknown(trouble.sentence)
  if (!history.some((event) => event.kind === 'phase' && event.phase === 'end'))
    return unknown('the run did not come to its end')
  const decided = history.filter(
    (event) => event.kind === 'lookup' && event.outcome.kind === 'decided',
  ).length
  if (decided < DECIDED_MIN) return unknown(`only ${decided} lookups were answered`)
  const nodeCount = known.genesis.nodes.length
  const signed = history.filter((event) => event.kind === 'signed-state' && event.state !== null)
  if (signed.length < nodeCount)
    return unknown(
      `${nodeCount - signed.length} of ${nodeCount} nodes signed nothing of the last state`,
    )
  return null
}

/** In the end every replica holds the history that the log has, and all the same state. */
function checkReplicas(
  history: readonly HistoryEvent[],
  known: { readonly truth: Truth; readonly genesis: Genesis },
): Finding[] {
  const rule = 'replicas are equal'
  const signed = history.flatMap((event) => {
    if (event.kind !== 'signed-state' || event.state === null || event.offset === null) return []
    return [{ node: event.node, offset: event.offset, ...event.state }]
  })
  const findings = signed.flatMap(({ node, offset, historyHash }) => {
    const wanted = known.truth.historyHash(offset)
    if (wanted === historyHash) return []
    const sentence =
      wanted === null
        ? `${node} signed offset ${offset}, which the log does not have`
        : `${node} has another history at offset ${offset} than the log`
    return [{ rule, sentence }]
  })
  const roots = new Set(signed.map(({ stateRoot }) => stateRoot))
  return roots.size > 1
    ? [...findings, { rule, sentence: `the nodes signed ${roots.size} different states` }]
    : findings
}

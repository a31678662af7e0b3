/**
 * The verdict about a chaos run. It reads only the history and the log, and shares no code with the reader whose answers it
 * checks. Each rule counts how often it was tested. With too few tests the verdict is inconclusive.
 */
import { type Genesis, memberSetOf } from '@quorumscan/verifier'
import { eventsOf, type HistoryEvent, type RuleTally, tally, type Verdict } from '../history.ts'
import type { RunResult } from '../run.ts'
import {
  answeredIn,
  checkLookups,
  checkMonotonicReads,
  checkStreams,
  checkWrites,
} from './answers.ts'
import { checkAvailability, checkDetection } from './faults.ts'
import { readTruth, type Truth } from './truth.ts'

/** With fewer answers the run is inconclusive. */
const ANSWERED_MIN = 10

export type CheckInput = RunResult & { readonly genesis: Genesis }

export async function check({ history, log, genesis }: CheckInput): Promise<Verdict> {
  const truth = await readTruth(log, genesis)
  const [run] = eventsOf(history, 'run')
  const rules = [
    ...checkLookups(history, { truth, strongOnly: run?.budget === 'beyond-f' }),
    checkMonotonicReads(history),
    checkAvailability(history, memberSetOf(genesis).f),
    ...checkWrites(history, truth),
    ...checkStreams(history, truth),
    ...truth.rules,
    checkReplicas(history, truth),
    ...checkDetection(history),
  ]
  return {
    // Without a log no answer can be checked.
    ...((log.length === 0 ? inconclusiveReason(history, genesis) : null) ??
      invalidReason(rules) ??
      inconclusiveReason(history, genesis) ??
      (run?.allowsUnexercised === true ? null : untestedIn(rules)) ??
      valid(history)),
    rules,
  }
}

type Outcome = Pick<Verdict, 'verdict' | 'sentence'>

const inconclusive = (sentence: string): Outcome => ({ verdict: 'inconclusive', sentence })

function invalidReason(rules: readonly RuleTally[]): Outcome | null {
  const findings = rules.flatMap(({ rule, findings }) =>
    findings.map((finding) => `${rule}: ${finding}`),
  )
  const [first] = findings
  if (first === undefined) return null
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : ''
  return { verdict: 'invalid', sentence: `${first}${more}` }
}

/** Why the run is inconclusive, or null. */
function inconclusiveReason(history: readonly HistoryEvent[], genesis: Genesis): Outcome | null {
  const [problem] = eventsOf(history, 'trouble')
  if (problem !== undefined) return inconclusive(problem.sentence)
  if (!eventsOf(history, 'phase').some(({ phase }) => phase === 'end'))
    return inconclusive('the run did not reach its end')
  const answered = answeredIn(history).length
  if (answered < ANSWERED_MIN) return inconclusive(`only ${answered} lookups were answered`)
  const nodeCount = memberSetOf(genesis).n
  const signed = eventsOf(history, 'signed-state').filter(({ state }) => state !== null)
  return signed.length < nodeCount
    ? inconclusive(`${nodeCount - signed.length} of ${nodeCount} nodes did not sign the last state`)
    : null
}

/** A rule that was never tested supports no verdict. */
function untestedIn(rules: readonly RuleTally[]): Outcome | null {
  const untested = rules.filter(({ samples }) => samples === 0).map(({ rule }) => rule)
  return untested.length === 0 ? null : inconclusive(`not exercised: ${untested.join('; ')}`)
}

function valid(history: readonly HistoryEvent[]): Outcome {
  const attempted = eventsOf(history, 'lookup').length
  const faults = eventsOf(history, 'fault').filter(({ refused }) => refused === null).length
  return {
    verdict: 'valid',
    sentence:
      `${attempted} lookups, ${answeredIn(history).length} answered, no answer wrong, ` +
      `under ${faults} ${faults === 1 ? 'fault' : 'faults'}; nothing acknowledged was lost`,
  }
}

/** At the end every replica has the history of the log, and all have the same state. */
function checkReplicas(history: readonly HistoryEvent[], truth: Truth): RuleTally {
  const signed = eventsOf(history, 'signed-state').flatMap(({ node, offset, state }) =>
    state === null || offset === null ? [] : { node, offset, ...state },
  )
  const rule = tally('replicas are equal', signed, ({ node, offset, historyHash }) => {
    const wanted = truth.historyHash(offset)
    if (wanted === historyHash) return null
    return wanted === null
      ? `${node} signed offset ${offset}, which the log does not have`
      : `${node} has another history at offset ${offset} than the log`
  })
  const roots = new Set(signed.map(({ stateRoot }) => stateRoot)).size
  const differ = roots > 1 ? [`the nodes signed ${roots} different states`] : []
  return { ...rule, findings: [...rule.findings, ...differ] }
}

/** The numbers of a run, for the report, a terminal and other programs: from the history alone. Pure. */

import { ORDERING_DRIVERS } from '@quorumscan/operator'
import { z } from 'zod'
import { isVisibleFault } from '../../faults/fault-spec.ts'
import { percentilesOf } from '../watch/prober.ts'
import { TRUTH_RULES } from './checker/answers.ts'
import { attemptsIn, detectionsOf, type FaultEvent } from './checker/faults.ts'
import type { EventOf, HistoryEvent, ReadOutcome } from './history.ts'
import { eventsOf, FINAL_READER, verdict } from './history.ts'
import { describeChaosFault, scenario } from './schedule.ts'

/** The points of a curve that a screen can show. */
const POINTS_MAX = 120
const STEP_MS_MIN = 1000
/** Attempts without an answer within this time count as one outage. */
const OUTAGE_GAP_MS = 1000
/** Dots that a browser draws easily. */
const LATENCIES_MAX = 4000

const ms = z.number().min(0).describe('Milliseconds since the run began.')
const took = z.number().min(0).nullable().describe('Milliseconds; null: never.')
const count = z.number().int().min(0)
const countByCode = z.record(z.string(), count)

/** The outcomes of attempts, by cause. */
const outcomes = z.object({
  answered: count,
  refused: countByCode.describe('By the scan proxy, or by a reader without a proof, by code.'),
  noConnection: countByCode.describe('By the error of the operating system.'),
  timedOut: count,
})
export type Outcomes = z.output<typeof outcomes>

const inForce = z
  .array(z.string())
  .describe('Faults in force meanwhile, not necessarily the cause.')

const summarySchema = z
  .object({
    version: z.literal(1).describe('Version of this format.'),
    run: z.object({
      id: z.string(),
      startedAt: z.string().describe('ISO 8601.'),
      version: z.string().describe('Version of quorumscan.'),
      machine: z.string(),
    }),
    ordering: z.enum(ORDERING_DRIVERS),
    scenario,
    verdict,
    wrongAnswers: count,
    lookups: outcomes.extend({
      attempted: count,
      withinBudget: z
        .object({ attempted: count, answered: count })
        .describe('While at most f nodes, and no other process, were faulty.'),
      p50Ms: took,
      p99Ms: took,
    }),
    availability: z.object({
      stepMs: count,
      points: z.array(outcomes.extend({ atMs: ms })).describe('By the start of an attempt.'),
    }),
    outages: z.array(outcomes.extend({ startMs: ms, endMs: ms, inForce })),
    latencies: z
      .array(z.tuple([ms, z.number().min(0)]))
      .describe('Begin and duration of answered lookups; of many, an even selection.'),
    writes: z.record(z.string(), countByCode),
    phases: z.array(z.object({ phase: z.string(), atMs: ms })),
    faults: z.array(
      z.object({
        node: z.string(),
        fault: z.string(),
        kind: z.string(),
        startMs: ms,
        endMs: ms,
        refused: z.string().nullable().describe('Why it was not injected.'),
        detections: z.array(
          z.object({ by: z.enum(['votes', 'prober', 'status']), afterMs: z.number().min(0) }),
        ),
        isVisible: z.boolean().describe('Whether a read can show it.'),
        recoveryMs: took,
        catchUpMs: took,
      }),
    ),
    healingMs: took,
    evidence: z.array(z.object({ node: z.string(), pairs: count })),
    replicas: z.array(
      z.object({
        node: z.string(),
        offset: count.nullable(),
        state: z.object({ historyHash: z.string(), stateRoot: z.string() }).nullable(),
      }),
    ),
  })
  .describe('The outcome of a chaos run.')
export type Summary = z.output<typeof summarySchema>

/** The JSON Schema of a summary, in a file next to it. */
export const SUMMARY_SCHEMA = z.toJSONSchema(summarySchema)

type Lookup = EventOf<'lookup'>

/** The same history always gives the same summary. */
export function summarize(
  history: readonly HistoryEvent[],
  known: Pick<Summary, 'run' | 'ordering' | 'verdict' | 'scenario'> & { faultyMax: number },
): Summary {
  const { faultyMax, ...rest } = known
  const attempts = attemptsIn(history, faultyMax)
  const lookups = attempts.map(({ lookup }) => lookup)
  const paced = lookups.filter(({ client }) => client !== FINAL_READER)
  const answered = lookups.filter(({ outcome }) => outcome.kind === 'answered')
  const within = attempts.filter(({ isWithinBudget }) => isWithinBudget)
  const answeredWithin = within.filter(({ lookup }) => lookup.outcome.kind === 'answered')
  const faults = eventsOf(history, 'fault')
  const phases = eventsOf(history, 'phase').map(({ phase, atMs }) => ({ phase, atMs }))
  const [healing, final] = ['healing', 'final'].map((name) =>
    phases.find(({ phase }) => phase === name),
  )
  const truthRules: readonly string[] = Object.values(TRUTH_RULES)
  const shown = evenly(answered, LATENCIES_MAX)
  return {
    version: 1,
    ...rest,
    wrongAnswers: known.verdict.rules
      .filter(({ rule }) => truthRules.includes(rule))
      .reduce((sum, { findings }) => sum + findings.length, 0),
    lookups: {
      attempted: lookups.length,
      ...countOutcomes(lookups.map(({ outcome }) => outcome)),
      withinBudget: { attempted: within.length, answered: answeredWithin.length },
      ...percentilesOf(answered.map(({ startMs, endMs }) => endMs - startMs)),
    },
    availability: availabilityOf(paced),
    outages: outagesOf(paced, faults),
    latencies: shown.map(({ startMs, endMs }) => [startMs, endMs - startMs]),
    writes: writesOf(history),
    phases,
    faults: byNode(faults.map((fault) => faultSummary(fault, history))).sort(
      (one, other) => one.startMs - other.startMs,
    ),
    healingMs: healing === undefined || final === undefined ? null : final.atMs - healing.atMs,
    evidence: byNode(eventsOf(history, 'evidence').map(({ node, pairs }) => ({ node, pairs }))),
    replicas: byNode(
      eventsOf(history, 'signed-state').map(({ node, offset, state }) => ({ node, offset, state })),
    ),
  }
}

function byNode<T extends { readonly node: string }>(all: readonly T[]): T[] {
  return all.toSorted((one, other) => compareNodes(one.node, other.node))
}

/** `sv-10` after `sv-2`. */
export function compareNodes(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

function countOutcomes(all: readonly ReadOutcome[]): Outcomes {
  const counted: Outcomes = { answered: 0, refused: {}, noConnection: {}, timedOut: 0 }
  for (const outcome of all) {
    if (outcome.kind === 'answered') counted.answered += 1
    else if (outcome.kind === 'timed-out') counted.timedOut += 1
    else {
      const byCode = outcome.kind === 'refused' ? counted.refused : counted.noConnection
      byCode[outcome.code] = (byCode[outcome.code] ?? 0) + 1
    }
  }
  return counted
}

/** From the first attempt to the last, including times without attempts. */
function availabilityOf(lookups: readonly Lookup[]): Summary['availability'] {
  const endMs = lookups.at(-1)?.startMs ?? 0
  const stepMs = STEP_MS_MIN * Math.max(1, Math.ceil(endMs / STEP_MS_MIN / POINTS_MAX))
  const length = lookups.length === 0 ? 0 : Math.floor(endMs / stepMs) + 1
  const buckets: ReadOutcome[][] = Array.from({ length }, () => [])
  for (const { startMs, outcome } of lookups) buckets[Math.floor(startMs / stepMs)]?.push(outcome)
  return {
    stepMs,
    points: buckets.map((bucket, index) => ({ atMs: index * stepMs, ...countOutcomes(bucket) })),
  }
}

/** Times in which attempts repeatedly had no answer, even if others had one meanwhile. */
function outagesOf(lookups: readonly Lookup[], faults: readonly FaultEvent[]): Summary['outages'] {
  const runs: Lookup[][] = []
  for (const lookup of lookups) {
    if (lookup.outcome.kind === 'answered') continue
    const last = runs.at(-1)?.at(-1)
    if (last !== undefined && lookup.startMs - last.startMs <= OUTAGE_GAP_MS)
      runs.at(-1)?.push(lookup)
    else runs.push([lookup])
  }
  return runs.map((run) => {
    const startMs = Math.min(...run.map((one) => one.startMs))
    const lastMs = Math.max(...run.map((one) => one.startMs))
    const endMs = Math.max(...run.map((one) => one.endMs))
    const inForce = faults
      .filter((one) => one.refused === null && one.startMs < endMs && one.endMs > startMs)
      .map(({ fault }) => `${fault.node} ${describeChaosFault(fault)}`)
    return {
      startMs,
      endMs,
      ...countOutcomes(run.map(({ outcome }) => outcome)),
      answered: lookups.filter(
        (one) => one.outcome.kind === 'answered' && one.startMs >= startMs && one.startMs <= lastMs,
      ).length,
      inForce: inForce.sort(compareNodes),
    }
  })
}

function writesOf(history: readonly HistoryEvent[]): Summary['writes'] {
  const writes: Record<string, Record<string, number>> = {}
  for (const { operation, outcome } of eventsOf(history, 'write')) {
    const counts = writes[operation] ?? {}
    writes[operation] = { ...counts, [outcome]: (counts[outcome] ?? 0) + 1 }
  }
  return Object.fromEntries(Object.entries(writes).sort())
}

function faultSummary(event: FaultEvent, history: readonly HistoryEvent[]) {
  const { fault, startMs, endMs, healedMs, upMs, refused } = event
  const isVisible = fault.kind !== 'flood' && isVisibleFault(fault)
  return {
    node: fault.node,
    fault: describeChaosFault(fault),
    kind: fault.kind,
    startMs,
    endMs,
    refused,
    isVisible,
    // Detections of a fault that was not injected belong to an earlier one.
    detections: refused === null && isVisible ? detectionsOf(event, history) : [],
    recoveryMs: upMs === null ? null : upMs - healedMs,
    catchUpMs: upMs === null ? null : endMs - upMs,
  }
}

function evenly<T>(all: readonly T[], max: number): readonly T[] {
  const step = Math.ceil(all.length / max)
  return all.filter((_, index) => index % step === 0)
}

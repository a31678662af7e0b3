/** The detection of faults, and whether nodes that equivocate are caught. */

import { EQUIVOCATED } from '@quorumscan/operator'
import { isShown } from '../../view/lies.ts'
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally, tally } from '../history.ts'
import { RECOVERY_MS } from './availability.ts'

export type FaultEvent = EventOf<'fault'>

/** What detected a fault, and how long after it began. */
type Detection = {
  readonly by: 'votes' | 'prober' | 'status'
  readonly afterMs: number
}

/** A head this far beyond the usual one is false. Smaller differences come from different read times. */
const HEAD_AHEAD_MIN = 1000
/** One per second: enough for the scan proxy, which reads the same statements, to detect it. */
const SHOWN_MIN = 3

/** All detections of a fault while it was in force, fastest first. */
export function detectionsOf(
  fault: FaultEvent,
  history: readonly HistoryEvent[],
): readonly Detection[] {
  const { node } = fault.fault
  const isDuring = ({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }) =>
    startMs >= fault.startMs && endMs <= fault.healedMs
  const probes = eventsOf(history, 'probe')
  const usualHead = median(probes.flatMap(({ head }) => head ?? []))
  const voted = eventsOf(history, 'lookup').find(
    (event) =>
      event.outcome.kind === 'answered' &&
      isDuring(event) &&
      event.outcome.dissented.includes(node),
  )
  const probed = probes.find(
    (event) =>
      event.node === node &&
      isDuring(event) &&
      (['dissented', 'failed'].includes(event.vote) ||
        event.signedProblem !== null ||
        (event.head ?? 0) > usualHead + HEAD_AHEAD_MIN),
  )
  const seenMs = { votes: voted?.endMs, prober: probed?.endMs, status: fault.seenMs }
  return (['votes', 'prober', 'status'] as const)
    .flatMap((by) => {
      const atMs = seenMs[by] ?? null
      return atMs === null ? [] : { by, afterMs: Math.round(atMs - fault.startMs) }
    })
    .sort((one, other) => one.afterMs - other.afterMs)
}

export function checkDetection(history: readonly HistoryEvent[]): RuleTally[] {
  const seen = eventsOf(history, 'fault').filter(
    ({ refused, fault, ...event }) =>
      refused === null &&
      fault.kind === 'lie' &&
      isShown(fault.lie) &&
      detectionsOf({ ...event, refused, fault }, history).length > 0,
  )
  const caught = eventsOf(history, 'evidence').filter(({ pairs }) => pairs > 0)
  return [
    // Only a count: whether a short lie meets a read is chance, so an undetected one is no error.
    tally('lies are seen', seen, () => null),
    tally('equivocation is caught', equivocatingNodes(history), (node) =>
      caught.some((evidence) => evidence.node === node)
        ? null
        : `${node} signed two states for one offset, and the scan proxy has no evidence`,
    ),
  ]
}

/**
 * Nodes that repeatedly showed the prober two signed states of one offset, while the validator, which reads the same
 * statements, was up.
 */
function equivocatingNodes(history: readonly HistoryEvent[]): readonly string[] {
  const outages = eventsOf(history, 'fault').filter(({ fault }) => fault.node === 'validator')
  const nodes = eventsOf(history, 'probe')
    .filter(({ signedProblem }) => signedProblem?.startsWith(EQUIVOCATED))
    .filter(
      ({ endMs: atMs }) =>
        !outages.some(({ startMs, endMs }) => atMs >= startMs && atMs <= endMs + RECOVERY_MS),
    )
    .map(({ node }) => node)
  return [...new Set(nodes)]
    .filter((node) => nodes.filter((one) => one === node).length >= SHOWN_MIN)
    .sort()
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

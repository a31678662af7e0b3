/** Whether lies were seen, by whom, and whether those who contradicted themselves were caught. */

import { CONTRADICTS_ITSELF } from '@quorumscan/operator'
import { isShown } from '../../view/lies.ts'
import type { HistoryEvent, RuleTally } from '../history.ts'
import { RECOVERY_MS } from './availability.ts'

export type FaultEvent = Extract<HistoryEvent, { kind: 'fault' }>

/** Who noticed a fault, and how long after it began; each at most once. */
type Detection = {
  readonly by: 'votes' | 'prober' | 'status'
  readonly afterMs: number
}

/** A head this far behind what a node tells of the log is one that the log has not: it is read at different moments. */
const HEAD_AHEAD_MIN = 1000
/** A second each: so long the scan proxy, which reads the same, has time to notice. */
const SHOWN_MIN = 3

/** Everything that noticed the fault while it was in force, quickest first. */
export function detectionsOf(
  fault: FaultEvent,
  history: readonly HistoryEvent[],
): readonly Detection[] {
  const { node } = fault.fault
  const isDuring = ({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }) =>
    startMs >= fault.startMs && endMs <= fault.healedMs
  const heads = history.flatMap((event) => (event.kind === 'probe' ? (event.head ?? []) : []))
  const usualHead = median(heads)
  const votes = history.find(
    (event) =>
      event.kind === 'lookup' &&
      event.outcome.kind === 'answered' &&
      isDuring(event) &&
      event.outcome.dissented.includes(node),
  )
  const probed = history.find(
    (event) =>
      event.kind === 'probe' &&
      event.node === node &&
      isDuring(event) &&
      (event.vote === 'dissented' ||
        event.vote === 'failed' ||
        event.signedProblem !== null ||
        (event.head ?? 0) > usualHead + HEAD_AHEAD_MIN),
  )
  return [
    ...(votes?.kind === 'lookup' ? [{ by: 'votes' as const, atMs: votes.endMs }] : []),
    ...(probed?.kind === 'probe' ? [{ by: 'prober' as const, atMs: probed.endMs }] : []),
    ...(fault.seenMs === null ? [] : [{ by: 'status' as const, atMs: fault.seenMs }]),
  ]
    .map(({ by, atMs }) => ({ by, afterMs: Math.round(atMs - fault.startMs) }))
    .sort((one, other) => one.afterMs - other.afterMs)
}

export function checkDetection(history: readonly HistoryEvent[]): RuleTally[] {
  const lies = history.filter(
    (event): event is FaultEvent =>
      event.kind === 'fault' && event.refused === null && event.fault.kind === 'lie',
  )
  const seen = lies.filter(
    (event) =>
      event.fault.kind === 'lie' &&
      isShown(event.fault.lie) &&
      detectionsOf(event, history).length > 0,
  )
  const contradicted = nodesThatContradicted(history)
  const caught = new Set(
    history.flatMap((event) => (event.kind === 'evidence' && event.pairs > 0 ? event.node : [])),
  )
  return [
    // How many: what a lie meets in its seconds is chance, so that one unseen is no fault of anybody.
    { rule: 'lies are seen', samples: seen.length, findings: [] },
    {
      rule: 'who contradicts itself is caught',
      samples: contradicted.length,
      findings: contradicted
        .filter((node) => !caught.has(node))
        .map(
          (node) => `${node} signed two states for one offset, and the scan proxy has no evidence`,
        ),
    },
  ]
}

/**
 * Nodes that showed the prober two states of one offset, each signed by them, again and again while the validator
 * was whole, which reads the same statements.
 */
function nodesThatContradicted(history: readonly HistoryEvent[]): readonly string[] {
  const outages = history.filter(
    (event): event is FaultEvent => event.kind === 'fault' && event.fault.node === 'validator',
  )
  const nodes = history.flatMap((event) => {
    if (event.kind !== 'probe' || event.signedProblem?.startsWith(CONTRADICTS_ITSELF) !== true)
      return []
    const { endMs: atMs, node } = event
    return outages.some(({ startMs, endMs }) => atMs >= startMs && atMs <= endMs + RECOVERY_MS)
      ? []
      : node
  })
  return [...new Set(nodes)]
    .filter((node) => nodes.filter((one) => one === node).length >= SHOWN_MIN)
    .sort()
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

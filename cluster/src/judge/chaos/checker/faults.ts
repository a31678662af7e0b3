/**
 * Rules on faults: while at most f nodes, and no other process, are faulty, lookups are answered; nodes that equivocate are
 * detected. And what detected each fault.
 */
import { median } from '@quorumscan/base'
import { EQUIVOCATED } from '@quorumscan/operator'
import { isVisibleFault } from '../../../faults/fault-spec.ts'
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally, tally } from '../history.ts'

/** How long a client may be without an answer: several timeouts in a row on a machine under load. */
const SILENCE_MS_MAX = 15_000
/** The recovery of a validator or a log. A node's fault already lasts until the node is up. */
const RECOVERY_MS = 8_000

export function checkAvailability(history: readonly HistoryEvent[], f: number): RuleTally {
  const findings: string[] = []
  const silentSince = new Map<string, number>()
  let samples = 0
  for (const { lookup, isWithinBudget } of attemptsIn(history, f)) {
    const { client, startMs, endMs, outcome } = lookup
    if (isWithinBudget) samples += 1
    if (!isWithinBudget || outcome.kind === 'answered') {
      silentSince.delete(client)
      continue
    }
    const since = silentSince.get(client) ?? startMs
    silentSince.set(client, since)
    if (endMs - since <= SILENCE_MS_MAX) continue
    const why = 'code' in outcome ? outcome.code : outcome.kind
    findings.push(
      `${client} had no answer from ${Math.round(since)} to ${Math.round(endMs)} ms (${why})`,
    )
    silentSince.delete(client)
  }
  return { rule: 'available within the fault budget', samples, findings }
}

/** All lookups by their begin, and whether at most f nodes, and no other process, were faulty all the time. */
export function attemptsIn(history: readonly HistoryEvent[], f: number) {
  const broken = brokenTimes(history, f)
  return eventsOf(history, 'lookup')
    .sort((one, other) => one.startMs - other.startMs)
    .map((lookup) => ({
      lookup,
      isWithinBudget: !broken.some(([from, to]) => lookup.startMs < to && lookup.endMs > from),
    }))
}

/** The times in which more than f nodes, or another process, were faulty. Half-open, each with its recovery. */
function brokenTimes(history: readonly HistoryEvent[], f: number): (readonly [number, number])[] {
  const faults = eventsOf(history, 'fault')
    // A flooded node is honest, and has to answer.
    .filter(({ refused, fault }) => refused === null && fault.kind !== 'flood')
    .map(({ fault: { node }, startMs, endMs }) => {
      const isNode = node !== 'validator' && node !== 'synchronizer'
      return { node, isNode, start: startMs, end: endMs + (isNode ? 0 : RECOVERY_MS) }
    })
  return faults.flatMap(({ isNode, start, end }) => {
    if (!isNode) return [[start, end] as const]
    const together = faults.filter((one) => one.isNode && one.start <= start && start < one.end)
    return new Set(together.map(({ node }) => node)).size > f
      ? [[start, Math.max(...together.map(({ end }) => end))] as const]
      : []
  })
}

export type FaultEvent = EventOf<'fault'>

/** A head this far beyond the usual one is false. Smaller differences come from different read times. */
const HEAD_AHEAD_MIN = 1000
/** One per second: enough for the scan proxy, which reads the same statements, to detect it. */
const PROBES_MIN = 3

/** What detected a fault while it was in force, and how long after it began, fastest first. */
export function detectionsOf(fault: FaultEvent, history: readonly HistoryEvent[]) {
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
      isVisibleFault(fault) &&
      detectionsOf({ ...event, refused, fault }, history).length > 0,
  )
  const proven = eventsOf(history, 'evidence').filter(({ pairs }) => pairs > 0)
  return [
    // Only a count: whether a short lie meets a read is chance, so an undetected one is not an error.
    tally('lies are seen', seen, () => null),
    tally('equivocation is detected', equivocatingNodes(history), (node) =>
      proven.some((evidence) => evidence.node === node)
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
    .filter((node) => nodes.filter((one) => one === node).length >= PROBES_MIN)
    .sort()
}

/** Rule: while at most f nodes, and no other process, are faulty, lookups are answered. */
import { type EventOf, eventsOf, type HistoryEvent, type RuleTally } from '../history.ts'

/** How long a client may be without an answer: several timeouts in a row on a machine under load. */
const SILENCE_MS_MAX = 15_000
/** The recovery of a validator or a log. A node's fault already lasts until the node is up. */
export const RECOVERY_MS = 8_000

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
  return { rule: 'available while the budget is kept', samples, findings }
}

/** All lookups by their begin, and whether at most f nodes, and no other process, were faulty all the time. */
export function attemptsIn(
  history: readonly HistoryEvent[],
  f: number,
): { readonly lookup: EventOf<'lookup'>; readonly isWithinBudget: boolean }[] {
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
    .filter(({ refused }) => refused === null)
    .map(({ fault: { node }, startMs, endMs }) => {
      const isNode = node !== 'validator' && node !== 'synchronizer'
      return { node, isNode, start: startMs, end: endMs + (isNode ? 0 : RECOVERY_MS) }
    })
  return faults.flatMap(({ isNode, start, end }) => {
    if (!isNode) return [[start, end] as const]
    const together = faults.filter(
      (other) => other.isNode && other.start <= start && start < other.end,
    )
    return new Set(together.map(({ node }) => node)).size > f
      ? [[start, Math.max(...together.map(({ end }) => end))] as const]
      : []
  })
}

/** Whenever the budget was kept, lookups were answered. */
import type { HistoryEvent, RuleTally } from '../history.ts'

/** A client may wait this long for an answer: several timeouts of a machine under load in a row. */
const SILENCE_MS_MAX = 15_000
/** A validator or a log that is back needs a moment; a node's fault lasts until it was seen to be up. */
export const RECOVERY_MS = 8_000

type Lookup = Extract<HistoryEvent, { kind: 'lookup' }>

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

/** All lookups in the order of their begin, and whether at most f nodes, and nothing else, were faulty all the time. */
export function attemptsIn(
  history: readonly HistoryEvent[],
  f: number,
): { readonly lookup: Lookup; readonly isWithinBudget: boolean }[] {
  const broken = brokenTimes(history, f)
  return history
    .filter((event) => event.kind === 'lookup')
    .sort((one, other) => one.startMs - other.startMs)
    .map((lookup) => ({
      lookup,
      isWithinBudget: !broken.some(([from, to]) => lookup.startMs < to && lookup.endMs > from),
    }))
}

/** When more than f nodes were faulty, or what is no node. Half-open, each with its recovery. */
function brokenTimes(history: readonly HistoryEvent[], f: number): [number, number][] {
  const isNode = (name: string) => name !== 'validator' && name !== 'synchronizer'
  const faults = history.flatMap((event) => {
    if (event.kind !== 'fault' || event.refused !== null) return []
    const { node } = event.fault
    return [{ node, start: event.startMs, end: event.endMs + (isNode(node) ? 0 : RECOVERY_MS) }]
  })
  const outside = faults
    .filter(({ node }) => !isNode(node))
    .map(({ start, end }): [number, number] => [start, end])
  const crowded = faults
    .filter(({ node }) => isNode(node))
    .flatMap(({ start }): [number, number][] => {
      const together = faults.filter(
        (other) => isNode(other.node) && other.start <= start && start < other.end,
      )
      return new Set(together.map(({ node }) => node)).size > f
        ? [[start, Math.max(...together.map(({ end }) => end))]]
        : []
    })
  return [...outside, ...crowded]
}

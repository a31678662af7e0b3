/** Whenever the budget was kept, lookups were answered. */
import type { Finding, HistoryEvent } from '../history.ts'

/** A client may wait this long for an answer: several timeouts of a machine under load in a row. */
const SILENCE_MS_MAX = 15_000
/** A validator or a log that is back needs a moment; a node's fault lasts until it was seen to be up. */
const RECOVERY_MS = 8_000

export function checkAvailability(history: readonly HistoryEvent[], f: number): Finding[] {
  const broken = brokenTimes(history, f)
  const findings: Finding[] = []
  const silentSince = new Map<string, number>()
  for (const event of history) {
    if (event.kind !== 'lookup') continue
    const isBroken = broken.some(([start, end]) => event.startMs < end && event.endMs > start)
    if (isBroken || event.outcome.kind === 'decided') {
      silentSince.delete(event.client)
      continue
    }
    const since = silentSince.get(event.client) ?? event.startMs
    silentSince.set(event.client, since)
    if (event.endMs - since <= SILENCE_MS_MAX) continue
    findings.push({
      rule: 'available while the budget is kept',
      sentence: `${event.client} had no answer from ${Math.round(since)} to ${Math.round(event.endMs)} ms (${event.outcome.code})`,
    })
    silentSince.delete(event.client)
  }
  return findings
}

/** When more than f nodes were faulty, or what is no node. Half-open, each with its recovery. */
function brokenTimes(history: readonly HistoryEvent[], f: number): [number, number][] {
  const isNode = (name: string) => name !== 'validator' && name !== 'synchronizer'
  const faults = history.flatMap((event) => {
    if (event.kind !== 'fault') return []
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

/** Geometry of the charts. Pure. */
import type { Fault, LiveEvent, Sample } from './api.ts'
import { msOf } from './time.ts'

export type Band = {
  readonly id: string
  readonly label: string
  readonly fromMs: number
  /** Null: still in force. */
  readonly toMs: number | null
}

/** When which fault was in force: those that ended from the events, the others as they are. */
export function faultBands(events: readonly LiveEvent[], faults: readonly Fault[]): Band[] {
  const open = new Map<string, number>()
  const ended: Band[] = []
  for (const event of events) {
    if (event.kind === 'fault') open.set(event.sentence, msOf(event.at))
    if (event.kind !== 'healed') continue
    const label = event.sentence.replace(' no longer ', ' ')
    const fromMs = open.get(label)
    open.delete(label)
    if (fromMs !== undefined)
      ended.push({ id: `${label} ${fromMs}`, label, fromMs, toMs: msOf(event.at) })
  }
  const inForce = faults.map(({ id, spec, words, startedAt }) => ({
    id,
    label: `${spec.node} ${words}`,
    fromMs: msOf(startedAt),
    toMs: null,
  }))
  return [...ended, ...inForce]
}

/** The smallest of 1, 2, 5 times a power of ten that is not below. */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power
}

/** Middle and 95th percentile, for those who do not see the line. */
export function summaryOf(samples: readonly Sample[]): {
  readonly answered: number
  readonly refused: number
  readonly medianMs: number | null
} {
  const answered = samples.filter(({ outcome }) => /^(verified|trusted)/.test(outcome))
  const sorted = answered.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
  return {
    answered: answered.length,
    refused: samples.length - answered.length,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? null,
  }
}

/** Geometry of the charts. Pure. */
import type { Fault, LiveEvent, Sample } from './api.ts'
import { msOf } from './time.ts'
import { toneOfOutcome } from './words.ts'

export type Band = {
  readonly id: string
  readonly label: string
  readonly fromMs: number
  /** Null: still in force. */
  readonly toMs: number | null
}

/** When which fault was in force, in the order in which they began: those that ended from the events, the others as they are. */
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
  return [...ended, ...inForce].sort((a, b) => a.fromMs - b.fromMs)
}

/** Times in which there was something in force, where several are one. */
export function shadedTimes(bands: readonly Band[]): readonly Pick<Band, 'fromMs' | 'toMs'>[] {
  const times: { fromMs: number; toMs: number | null }[] = []
  for (const { fromMs, toMs } of bands) {
    const last = times.at(-1)
    if (last === undefined || (last.toMs !== null && last.toMs < fromMs))
      times.push({ fromMs, toMs })
    else if (last.toMs !== null) last.toMs = toMs === null ? null : Math.max(last.toMs, toMs)
  }
  return times
}

/** Rows in which nothing lies on top of another; each item in the first that is free for it. */
export function lanesOf<T extends { readonly from: number; readonly to: number }>(
  items: readonly T[],
): readonly (readonly T[])[] {
  const lanes: T[][] = []
  for (const item of items) {
    const free = lanes.find((lane) =>
      lane.every(({ from, to }) => to <= item.from || item.to <= from),
    )
    if (free === undefined) lanes.push([item])
    else free.push(item)
  }
  return lanes
}

/** Longer without an answer is a gap. */
export const GAP_MS = 6000

export type Gap = { readonly fromMs: number; readonly toMs: number; readonly words: string }

/** Where nobody was answered for long, or nobody asked, and which of the two. */
export function gapsOf(samples: readonly Sample[], fromMs: number, toMs: number): readonly Gap[] {
  const times = samples.filter(isAnswered).map(({ at }) => msOf(at))
  return [fromMs, ...times].flatMap((from, index) => {
    const to = times[index] ?? toMs
    if (to - from <= GAP_MS) return []
    const asked = samples.filter(({ at }) => msOf(at) > from && msOf(at) < to)
    const outcome = asked.at(-1)?.outcome
    const words =
      outcome === undefined
        ? 'not measured'
        : toneOfOutcome(outcome) === 'bad'
          ? 'no answer'
          : 'refused'
    return [{ fromMs: from, toMs: to, words }]
  })
}

export function isAnswered({ outcome }: Sample): boolean {
  return toneOfOutcome(outcome) === 'good'
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
  const answered = samples.filter(isAnswered)
  const sorted = answered.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
  return {
    answered: answered.length,
    refused: samples.length - answered.length,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? null,
  }
}

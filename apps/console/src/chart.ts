/** The chart of lookups as shapes: faults in force, gaps, outcomes and latencies. Pure. */
import { median } from '@quorumscan/base/median'
import {
  bar,
  chart,
  curve,
  label,
  milliseconds,
  type Shape,
  type TimeWindow,
  toneOfOutcome,
} from 'quorumscan/view'
import type { Fault, LiveEvent, Sample } from './api.ts'
import { msOf } from './time.ts'

const MINUTE_MS = 60_000
const LATENCY_HEIGHT = 134
const GAP_LABEL_Y = LATENCY_HEIGHT / 2
/** The row below the latencies, with one mark for each lookup. */
const OUTCOMES = { y: LATENCY_HEIGHT + 12, height: 16 }
/** The top of the lanes, one for each fault, below the outcomes and the times. */
const LANES_TOP = OUTCOMES.y + OUTCOMES.height + 20
const LANE_HEIGHT = 18
/** Earlier faults are only counted. */
const LANES_MAX = 8
/** A longer time without an answer is a gap. */
const GAP_MS = 6000

/** `toMs`: Infinity while the fault is in force. */
export type Band = TimeWindow & { readonly label: string }

/** The time of each fault, sorted by its start: ended ones from the events, the others from the status. */
export function faultBands(events: readonly LiveEvent[], faults: readonly Fault[]): Band[] {
  const open = new Map<string, number>()
  const ended: Band[] = []
  for (const event of events) {
    if (event.kind === 'fault') open.set(event.sentence, msOf(event.at))
    if (event.kind !== 'healed') continue
    const label = event.sentence.replace(' no longer ', ' ')
    const fromMs = open.get(label)
    open.delete(label)
    if (fromMs !== undefined) ended.push({ label, fromMs, toMs: msOf(event.at) })
  }
  const inForce = faults.map(({ spec, words, startedAt }) => ({
    label: `${spec.node} ${words}`,
    fromMs: msOf(startedAt),
    toMs: Number.POSITIVE_INFINITY,
  }))
  return [...ended, ...inForce].sort((a, b) => a.fromMs - b.fromMs)
}

const GAP_LABELS = new Map([
  ['unreachable', 'no answer'],
  ['disputed', 'disputed'],
  ['CONSENSUS_DISPUTED', 'disputed'],
])

/** Times longer than `GAP_MS` without an answered lookup, and why: none was made, or the outcome of the last one. */
export function gapsOf(samples: readonly Sample[], fromMs: number, toMs: number) {
  const times = samples.filter(isAnswered).map(({ at }) => msOf(at))
  return [fromMs, ...times].flatMap((from, index) => {
    const to = times[index] ?? toMs
    if (to - from <= GAP_MS) return []
    const asked = samples.filter(({ at }) => msOf(at) > from && msOf(at) < to)
    const last = asked.at(-1)
    const gapLabel = last ? (GAP_LABELS.get(last.outcome) ?? 'refused') : 'not measured'
    return [{ fromMs: from, toMs: to, label: gapLabel }]
  })
}

function isAnswered({ outcome }: Sample): boolean {
  return toneOfOutcome(outcome) === 'good'
}

/** The smallest of 1, 2, 5 times a power of ten that is at least the value. */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power
}

/** The samples in words, for screen readers. */
export function summaryOf(samples: readonly Sample[]): string {
  const latencies = samples.filter(isAnswered).map(({ latencyMs }) => latencyMs)
  const usual = latencies.length === 0 ? '' : `, median ${milliseconds(median(latencies))}`
  const unansweredCount = samples.length - latencies.length
  return `${latencies.length} answered, ${unansweredCount} without an answer${usual}`
}

/** Latencies, outcomes and faults from one moment to another. */
export function drawLookups(
  { samples, bands }: { readonly samples: readonly Sample[]; readonly bands: readonly Band[] },
  window: TimeWindow,
): Shape {
  const { fromMs, toMs } = window
  const answered = samples.filter(isAnswered)
  const topMs = niceMax(Math.max(5, ...answered.map(({ latencyMs }) => latencyMs)))
  const yOf = (ms: number) => 12 + (LATENCY_HEIGHT - 12) * (1 - Math.min(ms, topMs) / topMs)
  // Newest first. Above the limit the oldest are only counted.
  const lanes = bands.toReversed().slice(0, LANES_MAX)
  const hidden = bands.length - lanes.length
  const inPlot = { y: 12, height: LATENCY_HEIGHT - 12 }
  const shaded = { y: 12, height: OUTCOMES.y + OUTCOMES.height - 12, className: '' }
  const shapes: Shape[] = [
    ...gapsOf(samples, fromMs, toMs).flatMap((gap) => {
      // The text starts at the edge that leaves room for it inside the gap.
      const isLate = gap.fromMs + gap.toMs > fromMs + toMs
      return [
        bar(window, { ...gap, ...inPlot, className: 'gap' }),
        label(window, { atMs: isLate ? gap.toMs : gap.fromMs, y: GAP_LABEL_Y, text: gap.label }),
      ]
    }),
    // A group is transparent as a whole: several faults at one time shade it once.
    ['g', { className: 'bands' }, ...bands.map((band) => bar(window, { ...band, ...shaded }))],
    curve(window, {
      points: answered.map(({ at, latencyMs }) => [msOf(at), yOf(latencyMs)] as const),
      height: LATENCY_HEIGHT,
      className: 'line',
      joined: (beforeMs, atMs) => atMs - beforeMs <= GAP_MS,
    }),
    ...samples.map(({ at, outcome, latencyMs }, index) => {
      const atMs = msOf(at)
      // Until the next one, so that a slow lookup fills its time.
      const endMs = Math.min(msOf(samples[index + 1]?.at ?? '') || toMs, atMs + GAP_MS)
      const className = `tick ${toneOfOutcome(outcome)}`
      const title = `${outcome}, ${milliseconds(latencyMs)}`
      return bar(window, { fromMs: atMs, toMs: endMs, ...OUTCOMES, className, title })
    }),
    ...lanes.flatMap((band, index) => {
      const y = LANES_TOP + index * LANE_HEIGHT
      const atMs = Math.max(fromMs, band.fromMs)
      return [
        bar(window, { ...band, y, height: LANE_HEIGHT - 3, className: 'fault' }),
        label(window, { atMs, y: y + 11.5, text: band.label, className: 'fault-label' }),
      ]
    }),
  ]
  if (hidden > 0) {
    const y = LANES_TOP + LANES_MAX * LANE_HEIGHT + 12
    shapes.push(label(window, { atMs: fromMs, y, text: `and ${hidden} earlier` }))
  }
  return chart({
    title: `Lookups: ${summaryOf(samples)}`,
    window,
    height: OUTCOMES.y + OUTCOMES.height,
    below: (lanes.length + (hidden > 0 ? 1 : 0)) * LANE_HEIGHT,
    names: [0, topMs / 2, topMs].map((ms) => ({ y: yOf(ms), text: `${ms} ms` })),
    isScale: true,
    ticks: [
      { atMs: fromMs, text: `${Math.round((toMs - fromMs) / MINUTE_MS)} min ago` },
      { atMs: toMs, text: 'now' },
    ],
    shapes,
  })
}

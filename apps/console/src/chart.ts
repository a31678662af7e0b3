/** What the chart of lookups shows: faults in force, gaps, outcomes and latencies, as shapes. Pure. */
import { bar, chart, curve, label, milliseconds, type Shape, toneOfOutcome } from 'quorumscan/view'
import type { Fault, LiveEvent, Sample } from './api.ts'
import { msOf } from './time.ts'

const MINUTE_MS = 60_000
const LATENCY_HEIGHT = 134
const GAP_LABEL_Y = LATENCY_HEIGHT / 2
/** Below the latencies: one mark for each lookup. */
const OUTCOMES = { y: LATENCY_HEIGHT + 12, height: 16 }
/** Below that, and the times: a lane for each fault. */
const LANES_TOP = OUTCOMES.y + OUTCOMES.height + 20
const LANE_HEIGHT = 18
/** Earlier ones are counted. */
const LANES_MAX = 8
/** Longer without an answer is a gap. */
const GAP_MS = 6000

export type Band = {
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
    if (fromMs !== undefined) ended.push({ label, fromMs, toMs: msOf(event.at) })
  }
  const inForce = faults.map(({ spec, words, startedAt }) => ({
    label: `${spec.node} ${words}`,
    fromMs: msOf(startedAt),
    toMs: null,
  }))
  return [...ended, ...inForce].sort((a, b) => a.fromMs - b.fromMs)
}

/** Times in which there was something in force, where several are one. */
export function shadedTimes(bands: readonly Pick<Band, 'fromMs' | 'toMs'>[]) {
  const times: { fromMs: number; toMs: number | null }[] = []
  for (const { fromMs, toMs } of bands) {
    const last = times.at(-1)
    if (last === undefined || (last.toMs !== null && last.toMs < fromMs))
      times.push({ fromMs, toMs })
    else if (last.toMs !== null) last.toMs = toMs === null ? null : Math.max(last.toMs, toMs)
  }
  return times
}

/** Where no lookup was answered for long, or none was made, and which of the two. */
export function gapsOf(samples: readonly Sample[], fromMs: number, toMs: number) {
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

function isAnswered({ outcome }: Sample): boolean {
  return toneOfOutcome(outcome) === 'good'
}

/** The smallest of 1, 2, 5 times a power of ten that is not below. */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power
}

/** The samples in words, for those who do not see the line. */
export function summaryOf(samples: readonly Sample[]): string {
  const latencies = samples.filter(isAnswered).map(({ latencyMs }) => latencyMs)
  const medianMs = latencies.sort((a, b) => a - b)[Math.floor(latencies.length / 2)]
  const median = medianMs === undefined ? '' : `, median ${milliseconds(medianMs)}`
  return `${latencies.length} answered, ${samples.length - latencies.length} refused${median}`
}

/** Latencies, outcomes and faults from one moment to another. */
export function drawLookups(
  { samples, bands }: { readonly samples: readonly Sample[]; readonly bands: readonly Band[] },
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Shape {
  const window = { fromMs, toMs }
  const answered = samples.filter(isAnswered)
  const topMs = niceMax(Math.max(5, ...answered.map(({ latencyMs }) => latencyMs)))
  const yOf = (ms: number) => 12 + (LATENCY_HEIGHT - 12) * (1 - Math.min(ms, topMs) / topMs)
  // The newest first, so that of too many the oldest are counted only.
  const lanes = bands.toReversed().slice(0, LANES_MAX)
  const hidden = bands.length - lanes.length
  const yOfLane = (index: number) => LANES_TOP + index * LANE_HEIGHT
  const inPlot = { y: 12, height: LATENCY_HEIGHT - 12 }
  const shapes = [
    ...gapsOf(samples, fromMs, toMs).flatMap((gap) => {
      // At the edge from which the text leads into the gap.
      const isLate = gap.fromMs + gap.toMs > fromMs + toMs
      return [
        bar(window, { ...gap, ...inPlot, className: 'gap' }),
        label(window, { atMs: isLate ? gap.toMs : gap.fromMs, y: GAP_LABEL_Y, text: gap.words }),
      ]
    }),
    ...shadedTimes(bands).map((time) =>
      bar(window, {
        ...{ fromMs: time.fromMs, toMs: time.toMs ?? toMs, className: 'band' },
        ...{ y: 12, height: OUTCOMES.y + OUTCOMES.height - 12 },
      }),
    ),
    curve(window, {
      points: answered.map(({ at, latencyMs }) => [msOf(at), yOf(latencyMs)] as const),
      height: LATENCY_HEIGHT,
      className: 'line',
      joined: (beforeMs, atMs) => atMs - beforeMs <= GAP_MS,
    }),
    ...samples.map(({ at, outcome, latencyMs }, index) => {
      const atMs = msOf(at)
      // Until the next one, so that what took long fills its time.
      const endMs = Math.min(msOf(samples[index + 1]?.at ?? '') || toMs, atMs + GAP_MS)
      const className = `tick ${toneOfOutcome(outcome)}`
      const title = `${outcome}, ${milliseconds(latencyMs)}`
      return bar(window, { fromMs: atMs, toMs: endMs, ...OUTCOMES, className, title })
    }),
    ...lanes.flatMap((band, index) => [
      bar(window, {
        ...{ fromMs: band.fromMs, toMs: band.toMs ?? toMs, className: 'fault' },
        ...{ y: yOfLane(index), height: LANE_HEIGHT - 3 },
      }),
      label(window, {
        ...{ atMs: Math.max(fromMs, band.fromMs), y: yOfLane(index) + 11.5 },
        ...{ text: band.label, className: 'fault-label' },
      }),
    ]),
    ...(hidden === 0
      ? []
      : [
          label(window, { atMs: fromMs, y: yOfLane(LANES_MAX) + 12, text: `and ${hidden} before` }),
        ]),
  ]
  return chart({
    title: `Lookups: ${summaryOf(samples)}`,
    window,
    height: OUTCOMES.y + OUTCOMES.height,
    below: (lanes.length + (hidden > 0 ? 1 : 0)) * LANE_HEIGHT,
    names: [0, 0.5, 1].map((share) => ({
      y: yOf(topMs * share),
      text: `${topMs * share} ms`,
    })),
    isScale: true,
    ticks: [
      { atMs: fromMs, text: `${Math.round((toMs - fromMs) / MINUTE_MS)} min ago` },
      { atMs: toMs, text: 'now' },
    ],
    shapes,
  })
}

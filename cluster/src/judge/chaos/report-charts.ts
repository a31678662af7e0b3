/** The charts of a report: outcomes, faults and latencies over the same time. */
import { type ChartGroup, FAULTS } from '../../faults/fault-spec.ts'
import {
  bar,
  chart,
  curve,
  escapeHtml,
  roundTimes,
  type TimeWindow,
  toSvg,
} from '../../view/timeline.ts'
import { seconds } from '../../view/words.ts'
import { compareNodes, type Summary } from './summary.ts'

const AVAILABILITY_HEIGHT = 120
const LATENCY_HEIGHT = 160
const LANE_HEIGHT = 22
const LATENCY_TICKS_MS = [1, 10, 100, 1000, 10_000]

/** By the CSS class that gives the color. */
const LOOKUP_OUTCOMES = {
  good: 'answered',
  warn: 'refused by the proxy or a reader',
  bad: 'no connection',
  late: 'timed out',
}
const FAULT_GROUPS: Readonly<Record<ChartGroup, string>> = {
  lie: 'lie',
  process: 'process',
  network: 'network',
  machine: 'machine: clock, memory, disk',
}
/** A history of another release may have further kinds. */
const GROUP_OF_KIND: ReadonlyMap<string, ChartGroup> = new Map([
  ...Object.entries(FAULTS).map(([kind, { chart }]) => [kind, chart] as const),
  ['wipe', 'process'],
])

/** The charts as HTML. */
export function timelineOf(summary: Summary): string {
  const { availability, faults, phases } = summary
  const { stepMs } = availability
  const toMs = Math.max(
    1,
    ...availability.points.map(({ atMs }) => atMs + stepMs),
    ...faults.map((fault) => fault.endMs),
    ...phases.map(({ atMs }) => atMs),
  )
  const window = { fromMs: 0, toMs }
  const each = stepMs === 1000 ? 'second' : seconds(stepMs)
  return [
    `<h3>Lookups that began in each ${each}</h3>`,
    legend(LOOKUP_OUTCOMES),
    availabilityChart(availability, window),
    '<h3>Faults</h3>',
    legend(FAULT_GROUPS),
    faultChart(faults, window),
    '<h3>Latency of each answer</h3>',
    latencyChart(summary.latencies, window),
  ].join('\n')
}

function drawing(parts: Omit<Parameters<typeof chart>[0], 'ticks'>): string {
  const ticks = roundTimes(parts.window).map((atMs) => ({ atMs, text: seconds(atMs) }))
  return `<div class="chart">${toSvg(chart({ ...parts, ticks }))}</div>`
}

function availabilityChart({ points, stepMs }: Summary['availability'], window: TimeWindow) {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const stacks = points.map(({ atMs, answered, refused, noConnection, timedOut }) => {
    const byCode = [refused, noConnection].map((counts) => sum(Object.values(counts)))
    return { atMs, counts: [answered, ...byCode, timedOut] }
  })
  const most = Math.max(1, ...stacks.map(({ counts }) => sum(counts)))
  const heightOf = (count: number) => (count / most) * AVAILABILITY_HEIGHT
  return drawing({
    title: 'Outcomes of lookups over time',
    window,
    height: AVAILABILITY_HEIGHT,
    names: [
      { y: 6, text: String(most) },
      { y: AVAILABILITY_HEIGHT - 6, text: '0' },
    ],
    shapes: stacks.flatMap(({ atMs, counts }) =>
      Object.keys(LOOKUP_OUTCOMES).map((className, index) =>
        bar(window, {
          fromMs: atMs,
          toMs: atMs + stepMs * 0.92,
          y: AVAILABILITY_HEIGHT - heightOf(sum(counts.slice(0, index + 1))),
          height: heightOf(counts[index] ?? 0),
          className,
        }),
      ),
    ),
  })
}

function faultChart(faults: Summary['faults'], window: TimeWindow): string {
  const nodes = [...new Set(faults.map(({ node }) => node))].sort(compareNodes)
  return drawing({
    title: 'Faults over time, a lane for each node',
    window,
    height: Math.max(1, nodes.length) * LANE_HEIGHT,
    names: nodes.map((text, index) => ({ y: (index + 0.5) * LANE_HEIGHT, text })),
    shapes: faults
      .filter(({ refused }) => refused === null)
      .map(({ node, fault, kind, startMs, endMs }) =>
        bar(window, {
          fromMs: startMs,
          toMs: endMs,
          y: nodes.indexOf(node) * LANE_HEIGHT + 3,
          height: LANE_HEIGHT - 6,
          className: `fault ${GROUP_OF_KIND.get(kind) ?? ''}`,
          title: `${node} ${fault}, ${seconds(startMs)} to ${seconds(endMs)}`,
        }),
      ),
  })
}

function latencyChart(latencies: Summary['latencies'], window: TimeWindow): string {
  const most = Math.max(100, ...latencies.map(([, tookMs]) => tookMs))
  // Logarithmic: a healthy lookup takes a few ms, and a timeout a thousand times as long.
  const yOf = (tookMs: number) => LATENCY_HEIGHT * (1 - Math.log1p(tookMs) / Math.log1p(most))
  return drawing({
    title: 'Latency of answered lookups over time',
    window,
    height: LATENCY_HEIGHT,
    names: LATENCY_TICKS_MS.filter((tick) => tick <= most).map((tick) => ({
      y: yOf(tick),
      text: tick < 1000 ? `${tick} ms` : seconds(tick),
    })),
    isScale: true,
    shapes: [
      curve(window, {
        points: latencies.map(([startMs, tookMs]) => [startMs, yOf(tookMs)] as const),
        height: LATENCY_HEIGHT,
        className: 'dots',
      }),
    ],
  })
}

function legend(names: Readonly<Record<string, string>>): string {
  const items = Object.entries(names).map(
    ([className, name]) => `<li><i class="${className}"></i>${escapeHtml(name)}`,
  )
  return `<ul class="legend">${items.join('')}</ul>`
}

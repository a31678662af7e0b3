/**
 * The charts of a report: how lookups ended, what was broken, and how long answers took, over the same time. Shapes
 * are drawn without text and stretched to whatever is there; names and ticks are text of the page, which is not.
 */
import { type ChartGroup, FAULTS } from '../faults/fault-spec.ts'
import { escapeHtml, seconds } from './report-text.ts'
import { compareNodes, type Summary } from './summary.ts'

/** Of the drawing; it is stretched. */
const WIDTH = 1000
const AVAILABILITY_HEIGHT = 120
const LATENCY_HEIGHT = 160
const LANE_HEIGHT = 22
const TICKS_MAX = 6
/** Percent of the width: what begins behind would not fit. */
const LAST_TICK = 94
const TICK_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]
const LATENCY_TICKS_MS = [1, 10, 100, 1000, 10_000]

const ENDINGS = [
  { name: 'answered', color: 'var(--good)' },
  { name: 'refused by the proxy', color: 'var(--warn)' },
  { name: 'no connection', color: 'var(--bad)' },
  { name: 'timed out', color: 'var(--late)' },
] as const

const FAULT_GROUPS: Readonly<
  Record<ChartGroup, { readonly name: string; readonly color: string }>
> = {
  lie: { name: 'lie', color: 'var(--lie)' },
  process: { name: 'process', color: 'var(--process)' },
  network: { name: 'network', color: 'var(--network)' },
  machine: { name: 'machine: clock, memory, disk', color: 'var(--machine)' },
}
/** Of the faults in a history; an older or newer one may have kinds that are unknown here. */
const GROUP_OF_KIND: ReadonlyMap<string, ChartGroup> = new Map([
  ...Object.entries(FAULTS).map(([kind, { chart }]) => [kind, chart] as const),
  ['wipe', 'process'],
])

export function timelineOf(summary: Summary): string {
  const { availability, faults, latencies, phases } = summary
  const endMs = Math.max(
    1,
    ...availability.points.map(({ atMs }) => atMs + availability.stepMs),
    ...faults.map((fault) => fault.endMs),
    ...phases.map(({ atMs }) => atMs),
  )
  const time: Axis = { endMs, x: (atMs) => ((atMs / endMs) * WIDTH).toFixed(1) }
  const { stepMs } = availability
  return [
    heading(`Lookups that began in each ${stepMs === 1000 ? 'second' : seconds(stepMs)}`),
    legend(ENDINGS),
    availabilityChart(summary, time),
    heading('What was broken'),
    legend(Object.values(FAULT_GROUPS)),
    faultChart(faults, time),
    heading('How long each answer took'),
    latencyChart(latencies, time),
  ].join('\n')
}

type Axis = { readonly endMs: number; readonly x: (atMs: number) => string }
type Name = { readonly y: number; readonly text: string }

function availabilityChart({ availability }: Summary, time: Axis): string {
  const { points, stepMs } = availability
  const sum = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  const stacks = points.map((point) => ({
    atMs: point.atMs,
    counts: [point.answered, sum(point.refused), sum(point.noConnection), point.timedOut],
  }))
  const most = Math.max(1, ...stacks.map(({ counts }) => counts.reduce((one, two) => one + two, 0)))
  const height = (count: number) => (count / most) * AVAILABILITY_HEIGHT
  const bars = stacks.flatMap(({ atMs, counts }) => {
    let top = AVAILABILITY_HEIGHT
    return counts.flatMap((count, index) => {
      if (count === 0) return []
      top -= height(count)
      const width = (Number(time.x(atMs + stepMs)) - Number(time.x(atMs))) * 0.92
      return `<rect x="${time.x(atMs)}" y="${top.toFixed(1)}" width="${width.toFixed(1)}" height="${height(count).toFixed(1)}" fill="${ENDINGS[index]?.color}"/>`
    })
  })
  return chart({
    label: 'How lookups ended over time',
    height: AVAILABILITY_HEIGHT,
    names: [
      { y: 6, text: String(most) },
      { y: AVAILABILITY_HEIGHT - 6, text: '0' },
    ],
    shapes: bars.join(''),
    time,
  })
}

function faultChart(faults: Summary['faults'], time: Axis): string {
  const nodes = [...new Set(faults.map(({ node }) => node))].sort(compareNodes)
  const bands = faults
    .filter(({ refused }) => refused === null)
    .map((fault) => {
      const y = nodes.indexOf(fault.node) * LANE_HEIGHT + 3
      const width = Math.max(2, Number(time.x(fault.endMs)) - Number(time.x(fault.startMs)))
      const group = GROUP_OF_KIND.get(fault.kind)
      const color = group === undefined ? 'currentColor' : FAULT_GROUPS[group].color
      const title = `${fault.node} ${fault.fault}, ${seconds(fault.startMs)} to ${seconds(fault.endMs)}`
      return `<rect x="${time.x(fault.startMs)}" y="${y}" width="${width.toFixed(1)}" height="${LANE_HEIGHT - 6}" fill="${color}"><title>${escapeHtml(title)}</title></rect>`
    })
  return chart({
    label: 'Faults over time, a lane for each node',
    height: Math.max(1, nodes.length) * LANE_HEIGHT,
    names: nodes.map((text, index) => ({ y: (index + 0.5) * LANE_HEIGHT, text })),
    shapes: bands.join(''),
    time,
  })
}

function latencyChart(latencies: Summary['latencies'], time: Axis): string {
  const most = Math.max(100, ...latencies.map(([, tookMs]) => tookMs))
  // Logarithmic: a healthy lookup takes a few ms and a timeout a thousand times that.
  const y = (tookMs: number) => LATENCY_HEIGHT * (1 - Math.log1p(tookMs) / Math.log1p(most))
  const ticks = LATENCY_TICKS_MS.filter((tick) => tick <= most)
  const lines = ticks.map((tick) => `M0 ${y(tick).toFixed(1)}H${WIDTH}`).join('')
  const dots = latencies
    .map(([startMs, tookMs]) => `M${time.x(startMs)} ${y(tookMs).toFixed(1)}h0`)
    .join('')
  return chart({
    label: 'Latency of answered lookups over time',
    height: LATENCY_HEIGHT,
    names: ticks.map((tick) => ({
      y: y(tick),
      text: tick < 1000 ? `${tick} ms` : seconds(tick),
    })),
    shapes: `<path d="${lines}" stroke="var(--line)" vector-effect="non-scaling-stroke"/><path d="${dots}" stroke="var(--good)" stroke-width="3" stroke-linecap="round" vector-effect="non-scaling-stroke"/>`,
    time,
  })
}

function chart(parts: {
  readonly label: string
  readonly height: number
  readonly names: readonly Name[]
  readonly shapes: string
  readonly time: Axis
}): string {
  const { label, height, names, shapes, time } = parts
  const ticks = ticksOf(time.endMs)
  const grid = ticks.map((atMs) => `M${time.x(atMs)} 0V${height}`).join('')
  return `<div class="chart"><div class="names">${names
    .map(({ y, text }) => `<span style="top:${y.toFixed(1)}px">${escapeHtml(text)}</span>`)
    .join('')}</div>
<div class="plot" style="height:${height}px"><svg viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none" fill="none" role="img" aria-label="${escapeHtml(label)}"><path d="${grid}" stroke="var(--line)" vector-effect="non-scaling-stroke"/>${shapes}</svg></div>
<div class="ticks">${ticks
    .map((atMs) => {
      const left = (100 * atMs) / time.endMs
      const edge = left === 0 ? ' class="first"' : left > LAST_TICK ? ' class="last"' : ''
      return `<span${edge} style="left:${left.toFixed(2)}%">${seconds(atMs)}</span>`
    })
    .join('')}</div></div>`
}

/** Round times, few enough for a telephone. */
function ticksOf(endMs: number): number[] {
  const endS = endMs / 1000
  const stepS = TICK_STEPS_S.find((step) => endS / step <= TICKS_MAX) ?? endS
  return Array.from({ length: Math.floor(endS / stepS) + 1 }, (_, index) => index * stepS * 1000)
}

function heading(text: string): string {
  return `<h3>${escapeHtml(text)}</h3>`
}

function legend(items: readonly { readonly name: string; readonly color: string }[]): string {
  return `<ul class="legend">${items
    .map(({ name, color }) => `<li><i style="--c:${color}"></i>${escapeHtml(name)}`)
    .join('')}</ul>`
}

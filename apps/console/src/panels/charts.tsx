/** Latency and outcome of the steady lookup, with the faults of the time in lanes below. */
import { useEffect, useRef, useState } from 'react'
import type { Fault, LiveEvent, Sample } from '../api.ts'
import {
  type Band,
  faultBands,
  GAP_MS,
  gapsOf,
  isAnswered,
  lanesOf,
  niceMax,
  shadedTimes,
  summaryOf,
} from '../chart.ts'
import { Panel } from '../panel.tsx'
import { msOf, nowMs } from '../time.ts'
import { milliseconds, toneOfOutcome } from '../words.ts'

const MINUTE_MS = 60_000
const WINDOWS = [2, 10] as const
const EDGE = { left: 60, right: 10, top: 12 }
const PLOT_HEIGHT = 122
/** Below the latencies: one mark for each lookup. */
const OUTCOME_TOP = EDGE.top + PLOT_HEIGHT + 12
const OUTCOME_HEIGHT = 16
const AXIS_TOP = OUTCOME_TOP + OUTCOME_HEIGHT
const AXIS_HEIGHT = 20
const LANE_HEIGHT = 18
/** More at once are counted. */
const LANES_MAX = 8
/** Of the letters of a label, at most. */
const LETTER_WIDTH = 6.5

export function ChartPanel(props: {
  readonly samples: readonly Sample[]
  readonly events: readonly LiveEvent[]
  readonly faults: readonly Fault[]
}) {
  const [minutes, setMinutes] = useState<(typeof WINDOWS)[number]>(2)
  const toMs = nowMs()
  const fromMs = toMs - minutes * MINUTE_MS
  const shown = props.samples.filter(({ at }) => msOf(at) >= fromMs)
  const summary = summaryOf(shown)
  const bands = faultBands(props.events, props.faults).filter(
    (band) => band.toMs === null || band.toMs > fromMs,
  )
  const text =
    `${summary.answered} answered, ${summary.refused} refused` +
    (summary.medianMs === null ? '' : `, median ${milliseconds(summary.medianMs)}`)
  return (
    <Panel
      title="Lookups"
      note={
        <select
          aria-label="Window"
          value={minutes}
          onChange={(event) => setMinutes(event.target.value === '10' ? 10 : 2)}
        >
          {WINDOWS.map((each) => (
            <option key={each} value={each}>
              last {each} min
            </option>
          ))}
        </select>
      }
    >
      <Chart samples={shown} bands={bands} fromMs={fromMs} toMs={toMs} text={text} />
      <p className="legend">
        <span>
          <i className="key line" /> latency
        </span>
        <span>
          <i className="key good" /> answered
        </span>
        <span>
          <i className="key warn" /> refused
        </span>
        <span>
          <i className="key bad" /> no answer or disputed
        </span>
        <span>
          <i className="key fault" /> fault in force
        </span>
      </p>
      <p className="muted small">{text}; one lookup a second through the scan proxy.</p>
    </Panel>
  )
}

function Chart(props: {
  readonly samples: readonly Sample[]
  readonly bands: readonly Band[]
  readonly fromMs: number
  readonly toMs: number
  readonly text: string
}) {
  const { samples, bands, fromMs, toMs } = props
  const [width, holder] = useWidth()
  const plotWidth = Math.max(10, width - EDGE.left - EDGE.right)
  const right = EDGE.left + plotWidth
  const x = (ms: number) =>
    EDGE.left + (plotWidth * (Math.max(fromMs, Math.min(toMs, ms)) - fromMs)) / (toMs - fromMs)
  const answered = samples.filter(isAnswered)
  const topMs = niceMax(Math.max(5, ...answered.map(({ latencyMs }) => latencyMs)))
  const y = (ms: number) => EDGE.top + PLOT_HEIGHT * (1 - Math.min(ms, topMs) / topMs)
  const bars = bands.map((band): Bar => {
    const [left, end] = [x(band.fromMs), x(band.toMs ?? toMs)]
    const labelWidth = band.label.length * LETTER_WIDTH
    // On the bar, or behind it, or before it: wherever there is room.
    const isInside = left + 4 + labelWidth <= end
    const isBehind = end + 4 + labelWidth <= right
    const labelLeft = isInside ? left + 4 : isBehind ? end + 4 : Math.max(0, left - 4 - labelWidth)
    const to = Math.max(end, labelLeft + labelWidth)
    return { band, left, end, labelLeft, from: Math.min(left, labelLeft), to }
  })
  // The newest first, so that of too many the oldest are counted only.
  const lanes = lanesOf(bars.reverse())
  const hidden = lanes.slice(LANES_MAX).flat().length
  const lanesTop = AXIS_TOP + AXIS_HEIGHT
  const height =
    lanesTop + (Math.min(lanes.length, LANES_MAX) + (hidden > 0 ? 1 : 0)) * LANE_HEIGHT + 2
  return (
    <div ref={holder} className="chart">
      <svg width={width} height={height} role="img" aria-label={`Lookups: ${props.text}`}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              className="grid"
              x1={EDGE.left}
              x2={right}
              y1={y(topMs * share)}
              y2={y(topMs * share)}
            />
            <text className="axis" x={EDGE.left - 6} y={y(topMs * share) + 4} textAnchor="end">
              {topMs * share} ms
            </text>
          </g>
        ))}
        {gapsOf(samples, fromMs, toMs).map((gap) => (
          <g key={gap.fromMs} className="gap">
            <rect
              x={x(gap.fromMs)}
              y={EDGE.top}
              width={x(gap.toMs) - x(gap.fromMs)}
              height={PLOT_HEIGHT}
            />
            <GapLabel from={x(gap.fromMs)} to={x(gap.toMs)} words={gap.words} />
          </g>
        ))}
        {shadedTimes(bands).map((time) => (
          <rect
            key={time.fromMs}
            className="band"
            x={x(time.fromMs)}
            y={EDGE.top}
            width={Math.max(2, x(time.toMs ?? toMs) - x(time.fromMs))}
            height={AXIS_TOP - EDGE.top}
          />
        ))}
        <path className="line" d={pathOf(answered, x, y)} />
        {samples.map((sample, index) => {
          const atMs = msOf(sample.at)
          // Until the next one, so that what took long fills its time.
          const endMs = Math.min(msOf(samples[index + 1]?.at ?? '') || toMs, atMs + GAP_MS)
          return (
            <rect
              key={sample.at}
              className={`tick ${toneOfOutcome(sample.outcome)}`}
              x={x(atMs)}
              y={OUTCOME_TOP}
              width={Math.max(1, x(endMs) - x(atMs))}
              height={OUTCOME_HEIGHT}
            >
              <title>{`${sample.outcome}, ${milliseconds(sample.latencyMs)}`}</title>
            </rect>
          )
        })}
        <text className="axis" x={EDGE.left} y={AXIS_TOP + 14}>
          {Math.round((toMs - fromMs) / MINUTE_MS)} min ago
        </text>
        <text className="axis" x={right} y={AXIS_TOP + 14} textAnchor="end">
          now
        </text>
        {lanes
          .slice(0, LANES_MAX)
          .map((lane, row) =>
            lane.map((bar) => (
              <FaultBar key={bar.band.id} bar={bar} top={lanesTop + row * LANE_HEIGHT} />
            )),
          )}
        {hidden === 0 ? null : (
          <text className="axis" x={EDGE.left} y={height - 6}>
            and {hidden} before
          </text>
        )}
      </svg>
    </div>
  )
}

type Bar = {
  readonly band: Band
  readonly left: number
  readonly end: number
  readonly labelLeft: number
  /** With its label. */
  readonly from: number
  readonly to: number
}

/** A fault in a lane of its own, with its name on it, or beside where it is short. */
function FaultBar({ bar, top }: { readonly bar: Bar; readonly top: number }) {
  return (
    <g>
      <rect
        className="fault"
        x={bar.left}
        y={top}
        width={Math.max(3, bar.end - bar.left)}
        height={LANE_HEIGHT - 3}
        rx={3}
      />
      <text className="fault-label" x={bar.labelLeft} y={top + 11.5}>
        {bar.band.label}
      </text>
    </g>
  )
}

/** Upright where it would not fit. */
function GapLabel(props: { readonly from: number; readonly to: number; readonly words: string }) {
  const { words } = props
  const [middle, centre] = [(props.from + props.to) / 2, EDGE.top + PLOT_HEIGHT / 2]
  const isNarrow = props.to - props.from < words.length * LETTER_WIDTH
  return (
    <text
      className="axis"
      textAnchor="middle"
      x={middle}
      y={centre + 4}
      {...(isNarrow && { transform: `rotate(-90 ${middle} ${centre})` })}
    >
      {words}
    </text>
  )
}

function pathOf(
  samples: readonly Sample[],
  x: (ms: number) => number,
  y: (ms: number) => number,
): string {
  let lastMs = Number.NEGATIVE_INFINITY
  return samples
    .map((sample) => {
      const ms = msOf(sample.at)
      const command = ms - lastMs > GAP_MS ? 'M' : 'L'
      lastMs = ms
      return `${command}${x(ms).toFixed(1)} ${y(sample.latencyMs).toFixed(1)}`
    })
    .join('')
}

/** The width of an element, as it changes. */
function useWidth(): [number, React.RefObject<HTMLDivElement | null>] {
  const holder = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(320)
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [width, holder]
}

/** Latency and outcome of the steady lookup, with the times of faults shaded. */
import { useEffect, useRef, useState } from 'react'
import type { Fault, LiveEvent, Sample } from '../api.ts'
import { type Band, faultBands, niceMax, summaryOf } from '../chart.ts'
import { Panel } from '../panel.tsx'
import { msOf, nowMs } from '../time.ts'
import { milliseconds, toneOfOutcome } from '../words.ts'

const MINUTE_MS = 60_000
const WINDOWS = [2, 10] as const
const HEIGHT = 190
const EDGE = { left: 60, right: 10, top: 12 }
const PLOT_HEIGHT = 122
/** Below the latencies: one mark for each lookup. */
const OUTCOME_TOP = EDGE.top + PLOT_HEIGHT + 12
const OUTCOME_HEIGHT = 16
/** A little more than between two lookups, so that the marks touch. */
const TICK_MS = 1200
/** A gap in the line where nobody answered for so long. */
const GAP_MS = 6000

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
  const tickWidth = Math.max(2, (plotWidth * TICK_MS) / (toMs - fromMs))
  const x = (ms: number) =>
    EDGE.left + (plotWidth * (Math.max(fromMs, Math.min(toMs, ms)) - fromMs)) / (toMs - fromMs)
  const topMs = niceMax(Math.max(5, ...samples.map(({ latencyMs }) => latencyMs)))
  const y = (ms: number) => EDGE.top + PLOT_HEIGHT * (1 - Math.min(ms, topMs) / topMs)
  return (
    <div ref={holder} className="chart">
      <svg width={width} height={HEIGHT} role="img" aria-label={`Lookups: ${props.text}`}>
        {bands.map((band) => (
          <g key={band.id}>
            <rect
              className="band"
              x={x(band.fromMs)}
              y={EDGE.top}
              width={Math.max(2, x(band.toMs ?? toMs) - x(band.fromMs))}
              height={OUTCOME_TOP + OUTCOME_HEIGHT - EDGE.top}
            >
              <title>{band.label}</title>
            </rect>
          </g>
        ))}
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              className="grid"
              x1={EDGE.left}
              x2={EDGE.left + plotWidth}
              y1={y(topMs * share)}
              y2={y(topMs * share)}
            />
            <text className="axis" x={EDGE.left - 6} y={y(topMs * share) + 4} textAnchor="end">
              {topMs * share} ms
            </text>
          </g>
        ))}
        <path className="line" d={pathOf(samples, x, y)} />
        {samples.map((sample) => (
          <rect
            key={sample.at}
            className={`tick ${toneOfOutcome(sample.outcome)}`}
            x={Math.min(x(msOf(sample.at)), EDGE.left + plotWidth - tickWidth)}
            y={OUTCOME_TOP}
            width={tickWidth}
            height={OUTCOME_HEIGHT}
          >
            <title>{`${sample.outcome}, ${milliseconds(sample.latencyMs)}`}</title>
          </rect>
        ))}
        <text className="axis" x={EDGE.left} y={HEIGHT - 6}>
          {Math.round((toMs - fromMs) / MINUTE_MS)} min ago
        </text>
        <text className="axis" x={EDGE.left + plotWidth} y={HEIGHT - 6} textAnchor="end">
          now
        </text>
      </svg>
    </div>
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

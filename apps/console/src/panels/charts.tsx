/** Latency and outcome of the periodic lookup, with a lane for each fault below. */
import type { Shape } from 'quorumscan/view'
import { createElement, type ReactNode, useState } from 'react'
import type { Fault, LiveEvent, Sample } from '../api.ts'
import { drawLookups, faultBands, summaryOf } from '../chart.ts'
import { Panel, Select } from '../parts.tsx'
import { msOf, nowMs } from '../time.ts'

const MINUTE_MS = 60_000
const WINDOWS = [2, 10].map((minutes) => [minutes, `last ${minutes} min`] as const)
const LEGEND = {
  line: 'latency',
  good: 'answered',
  warn: 'refused',
  bad: 'no answer or disputed',
  fault: 'fault in force',
}

export function ChartPanel(props: {
  readonly samples: readonly Sample[]
  readonly events: readonly LiveEvent[]
  readonly faults: readonly Fault[]
}) {
  const [minutes, setMinutes] = useState(2)
  const toMs = nowMs()
  const fromMs = toMs - minutes * MINUTE_MS
  const samples = props.samples.filter(({ at }) => msOf(at) >= fromMs)
  const bands = faultBands(props.events, props.faults).filter((band) => band.toMs > fromMs)
  return (
    <Panel
      title="Lookup latency"
      note={
        <Select
          isBare
          label="Window"
          defaultValue={2}
          choices={WINDOWS}
          onChange={({ target }) => setMinutes(Number(target.value))}
        />
      }
    >
      <div className="chart">{toElement(drawLookups({ samples, bands }, { fromMs, toMs }))}</div>
      <p className="legend">
        {Object.entries(LEGEND).map(([key, label]) => (
          <span key={key}>
            <i className={`key ${key}`} /> {label}
          </span>
        ))}
      </p>
      <p className="muted small">
        {summaryOf(samples)}; one lookup a second through the scan proxy.
      </p>
    </Panel>
  )
}

function toElement([tag, attributes, ...children]: Shape): ReactNode {
  const inside = children.map((child) => (typeof child === 'string' ? child : toElement(child)))
  return createElement(tag, attributes, ...inside)
}

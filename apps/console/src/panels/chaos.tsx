/** Chaos runs: started here, followed to their verdict, with the report of each. */
import { milliseconds, type Tone } from 'quorumscan/view'
import { useState } from 'react'
import type { Api, ChaosRun, ChaosSummary } from '../api.ts'
import {
  durationChoices,
  ExactField,
  Form,
  handOut,
  Panel,
  Problem,
  Select,
  useAct,
} from '../parts.tsx'
import { msOf, nowMs } from '../time.ts'
import { usePolled } from '../use-cluster.ts'

const POLL_MS = 500
const SHOWN_MAX = 5
const DURATIONS_S = [10, 20, 60, 300]
/** Where nobody gave one: short enough to be typed again. */
const SEED_LETTERS = 8

const verdictTones: Readonly<Record<string, Tone>> = {
  valid: 'good',
  invalid: 'bad',
  inconclusive: 'warn',
}

type Asked = { readonly seed: string; readonly seconds: number; readonly budget: 'f' | 'beyond-f' }

export function ChaosPanel({ api, f }: { readonly api: Api; readonly f: number }) {
  const [form, setForm] = useState<Asked>({ seed: '', seconds: 20, budget: 'f' })
  const [problem, act] = useAct()
  const runs = usePolled(() => api.chaos.list.query(), POLL_MS)
  const running = runs?.find(({ state }) => state === 'running')
  const start = () => {
    const seed = form.seed.trim() === '' ? randomSeed() : form.seed.trim()
    const asked = { seed, durationMs: form.seconds * 1000, budget: form.budget }
    act(() => api.chaos.start.mutate(asked))
  }
  return (
    <Panel title="Chaos runs" note="with a verdict">
      <Form onSubmit={start}>
        <ExactField
          className="grow narrow"
          label="Seed"
          value={form.seed}
          onText={(seed) => setForm({ ...form, seed })}
          placeholder="a random one"
          maxLength={64}
        />
        <Select
          label="Duration"
          value={form.seconds}
          choices={durationChoices(DURATIONS_S)}
          onValue={(seconds) => setForm({ ...form, seconds })}
        />
        <Select
          label="Budget"
          value={form.budget}
          choices={[
            ['f', `f: at most ${f} faulty`],
            ['beyond-f', `beyond f: up to ${2 * f}`],
          ]}
          onValue={(budget) => setForm({ ...form, budget })}
        />
        <button type="submit" className="primary" disabled={running !== undefined}>
          Start a run
        </button>
      </Form>
      <Problem text={problem} />
      {running === undefined ? null : (
        <Progress run={running} stop={() => act(() => api.chaos.stop.mutate({ id: running.id }))} />
      )}
      <Finished
        runs={(runs ?? []).filter(({ state }) => state !== 'running').slice(0, SHOWN_MAX)}
        api={api}
        act={act}
        isBusy={running !== undefined}
      />
    </Panel>
  )
}

/** The chaos itself has a known length; registering before it and checking after it have not. */
function Progress({ run, stop }: { readonly run: ChaosRun; readonly stop: () => void }) {
  const shareDone = Math.min(1, Math.max(0, (nowMs() - msOf(run.startedAt)) / run.durationMs))
  return (
    <div className="running">
      <p role="status">
        <span className="badge warn">running</span> seed <code>{run.seed}</code>: {run.sentence}
      </p>
      <progress max={1} value={shareDone} aria-label="Time of the chaos run" />
      <button type="button" onClick={stop}>
        Stop the run
      </button>
    </div>
  )
}

function Finished(props: {
  readonly runs: readonly ChaosRun[]
  readonly api: Api
  readonly act: (work: () => Promise<unknown>) => void
  readonly isBusy: boolean
}) {
  const { runs, api, act, isBusy } = props
  if (runs.length === 0)
    return (
      <p className="empty">
        A seeded schedule of faults while clients register, renew, transfer and look up; then an
        independent checker says whether a wrong answer was ever served.
      </p>
    )
  return (
    <ol className="runs" aria-label="Chaos runs, newest first">
      {runs.map((run) => (
        <li key={run.id}>
          <p className="run-head">
            <span className={`badge ${verdictTones[run.verdict ?? ''] ?? 'idle'}`}>
              {run.verdict ?? run.state}
            </span>
            <span>
              seed <code>{run.seed}</code>
            </span>
            <span className="muted">
              {Math.round(run.durationMs / 1000)} s, {run.budget === 'f' ? 'budget f' : 'beyond f'}
            </span>
            <span className="actions">
              <button
                type="button"
                aria-label={`Report of ${run.seed}`}
                disabled={run.state !== 'done'}
                onClick={() => act(() => openReport(api, run.id))}
              >
                Report
              </button>
              <button
                type="button"
                aria-label={`Run ${run.seed} again`}
                disabled={isBusy || run.state !== 'done'}
                onClick={() => act(() => api.chaos.repeat.mutate({ id: run.id }))}
              >
                Again
              </button>
            </span>
          </p>
          <p className="small">{run.sentence}</p>
          {run.summary === null ? null : <Numbers summary={run.summary} />}
        </li>
      ))}
    </ol>
  )
}

function Numbers({ summary }: { readonly summary: ChaosSummary }) {
  const { wrongAnswers, decided, refused, p50Ms, p99Ms } = summary
  return (
    <p className="muted small">
      wrong answers served:{' '}
      <strong className={wrongAnswers > 0 ? 'bad-text' : ''}>{wrongAnswers}</strong>
      {`; ${decided} lookups answered (p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}), ${refused} refused`}
    </p>
  )
}

/** In a tab of its own. It is asked for with the token, which a plain link could not carry. */
async function openReport(api: Api, id: string): Promise<void> {
  const html = await api.chaos.report.query({ id })
  handOut(new Blob([html], { type: 'text/html' }), { target: '_blank' })
}

function randomSeed(): string {
  return crypto.randomUUID().slice(0, SEED_LETTERS)
}

/** Chaos runs: started here, followed to their verdict, with the report of each. */
import { milliseconds, type Tone } from 'quorumscan/view'
import type { Api, ChaosRun, ChaosSummary } from '../api.ts'
import {
  type Act,
  Button,
  downloadOrOpen,
  durationChoices,
  ExactField,
  Form,
  Panel,
  Problem,
  Select,
  useAct,
} from '../parts.tsx'
import { msOf, nowMs } from '../time.ts'
import { usePolled } from '../use-cluster.ts'

const POLL_MS = 500
const SHOWN_MAX = 5
const DURATIONS = durationChoices([10, 20, 60, 300])
/** The length of a random seed: short enough to be typed again. */
const SEED_LETTERS = 8

const verdictTones: Readonly<Record<string, Tone>> = {
  valid: 'good',
  invalid: 'bad',
  inconclusive: 'warn',
}

export function ChaosPanel({ api, f }: { readonly api: Api; readonly f: number }) {
  const [problem, act] = useAct()
  const runs = usePolled(() => api.chaos.list.query(), POLL_MS)
  const running = runs?.find(({ state }) => state === 'running')
  const budgets = [
    ['f', `f: at most ${f} faulty`],
    ['beyond-f', `beyond f: up to ${2 * f}`],
  ] as const
  const start = (textOf: (name: string) => string) => {
    const budget = textOf('budget') === 'f' ? 'f' : 'beyond-f'
    const durationMs = Number(textOf('seconds')) * 1000
    const seed = textOf('seed') || crypto.randomUUID().slice(0, SEED_LETTERS)
    act(() => api.chaos.start.mutate({ seed, durationMs, budget }))
  }
  return (
    <Panel title="Chaos runs" note="each with a verdict">
      <Form onSubmit={start}>
        <ExactField label="Seed" name="seed" placeholder="random" maxLength={64} />
        <Select label="Duration" name="seconds" defaultValue={20} choices={DURATIONS} />
        <Select label="Budget" name="budget" choices={budgets} />
        <button type="submit" className="primary" disabled={running !== undefined}>
          Start a run
        </button>
      </Form>
      <Problem text={problem} />
      {running && (
        <Progress run={running} stop={() => act(() => api.chaos.stop.mutate({ id: running.id }))} />
      )}
      <Finished all={runs ?? []} api={api} act={act} />
    </Panel>
  )
}

/** The bar shows the faults, whose length is known. Preparation before and checks after them have no known length. */
function Progress({ run, stop }: { readonly run: ChaosRun; readonly stop: () => void }) {
  const shareDone = Math.min(1, Math.max(0, (nowMs() - msOf(run.startedAt)) / run.durationMs))
  return (
    <div className="running">
      <p role="status">
        <span className="badge warn">running</span> seed <code>{run.seed}</code>: {run.sentence}
      </p>
      <progress max={1} value={shareDone} aria-label="Time of the chaos run" />
      <Button onClick={stop}>Stop the run</Button>
    </div>
  )
}

type Runs = { readonly all: readonly ChaosRun[]; readonly api: Api; readonly act: Act }

function Finished({ all, api, act }: Runs) {
  const runs = all.filter(({ state }) => state !== 'running')
  const isBusy = runs.length < all.length
  if (runs.length === 0)
    return (
      <p className="empty">
        A run injects faults on a seeded schedule while clients register, renew, transfer and look
        up names. Then an independent checker reports whether a wrong answer was ever served.
      </p>
    )
  return (
    <ol className="runs" aria-label="Chaos runs, newest first">
      {runs.slice(0, SHOWN_MAX).map((run) => (
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
              <Button
                aria-label={`Report of ${run.seed}`}
                disabled={run.state !== 'done'}
                onClick={() => act(() => openReport(api, run.id))}
              >
                Report
              </Button>
              <Button
                aria-label={`Run ${run.seed} again`}
                disabled={isBusy || run.state !== 'done'}
                onClick={() => act(() => api.chaos.repeat.mutate({ id: run.id }))}
              >
                Again
              </Button>
            </span>
          </p>
          <p className="small">{run.sentence}</p>
          {run.summary && <Numbers {...run.summary} />}
        </li>
      ))}
    </ol>
  )
}

function Numbers({ wrongAnswers, decided, refused, p50Ms, p99Ms }: ChaosSummary) {
  return (
    <p className="muted small">
      wrong answers served:{' '}
      <strong className={wrongAnswers > 0 ? 'bad-text' : ''}>{wrongAnswers}</strong>
      {`; ${decided} lookups answered (p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}), ${refused} without an answer`}
    </p>
  )
}

/** Opens the report in a new tab. The request carries the token, which a plain link could not. */
async function openReport(api: Api, id: string): Promise<void> {
  const html = await api.chaos.report.query({ id })
  downloadOrOpen(new Blob([html], { type: 'text/html' }), { target: '_blank' })
}

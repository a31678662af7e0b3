/** The automation of every process: what waits, and what failed recently. */
import { describeQueue } from '@quorumscan/errors/node-words'
import { shorten } from 'quorumscan/view'
import type { Api, ServiceJobs } from '../api.ts'
import { Button, Panel, Problem, useAct } from '../parts.tsx'
import { usePolled } from '../use-cluster.ts'

const POLL_MS = 2000
const FAILURES_SHOWN_MAX = 8

export function QueuePanel({ api }: { readonly api: Api }) {
  const [problem, act] = useAct()
  const services = usePolled(() => api.jobs.list.query(), POLL_MS)
  const failures = (services ?? [])
    .flatMap(({ node, jobs }) => (jobs?.failures ?? []).map((failure) => ({ node, ...failure })))
    .sort((a, b) => b.at - a.at)
    .slice(0, FAILURES_SHOWN_MAX)
  return (
    <Panel title="Queues" note="jobs that wait, are delayed, or run">
      <Problem text={problem} />
      {services === null ? <p className="empty">Loading …</p> : <Waiting services={services} />}
      <h3>Recent failures</h3>
      {failures.length === 0 ? (
        <p className="empty">None.</p>
      ) : (
        <ul className="failures">
          {failures.map((failure) => (
            <li key={`${failure.node} ${failure.at} ${failure.contractId}`}>
              <span>
                <strong>{failure.node}</strong> {failure.job}{' '}
                <code>{shorten(failure.contractId, 16)}</code>
                <span className="muted">{` ${failure.code}: ${failure.message}`}</span>
              </span>
              <Button
                onClick={() => act(() => api.jobs.retry.mutate(failure))}
                aria-label={`Retry ${failure.job} on ${failure.node}`}
              >
                Retry
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** The queues of these processes that are not empty, and the processes that did not answer. */
export function Waiting({ services }: { readonly services: readonly ServiceJobs[] }) {
  const silent = services.filter(({ jobs }) => jobs === null).map(({ node }) => node)
  const rows = services.flatMap(({ node, jobs }) =>
    Object.entries(jobs?.queues ?? {})
      .map(([job, counts]) => ({ node, job, text: describeQueue(counts) }))
      .filter(({ text }) => text !== ''),
  )
  return (
    <>
      {rows.length === 0 && silent.length < services.length && (
        <p className="empty">No job waits.</p>
      )}
      <ul className="failures">
        {rows.map(({ node, job, text }) => (
          <li key={`${node} ${job}`}>
            <span>
              <strong>{node}</strong> {job}
            </span>
            <span>{text}</span>
          </li>
        ))}
        {silent.length > 0 && (
          <li className="idle-text">No data: the Redis of {silent.join(', ')} did not answer.</li>
        )}
      </ul>
    </>
  )
}

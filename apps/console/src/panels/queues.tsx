/** The automation of every process: what waits, and what failed of late. */
import { useCallback } from 'react'
import type { Api, ServiceJobs } from '../api.ts'
import { Panel } from '../panel.tsx'
import { Problem, useAct } from '../parts.tsx'
import { usePolled } from '../use-cluster.ts'
import { shorten } from '../words.ts'

const POLL_MS = 2000
const FAILURES_SHOWN_MAX = 8

export function QueuePanel({ api }: { readonly api: Api }) {
  const [problem, act] = useAct()
  const services = usePolled(
    useCallback(() => api.jobs.list.query(), [api]),
    POLL_MS,
  )
  const failures = (services ?? [])
    .flatMap(({ node, jobs }) => (jobs?.failures ?? []).map((failure) => ({ node, ...failure })))
    .sort((a, b) => b.at - a.at)
    .slice(0, FAILURES_SHOWN_MAX)
  return (
    <Panel title="Queues" note="jobs that wait, are put off, or run">
      <Problem text={problem} />
      {services === null ? (
        <p className="empty">Asking …</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section className="scroll" tabIndex={0} aria-label="Queues by process">
          <QueueTable services={services} />
        </section>
      )}
      <h3>Last failures</h3>
      {failures.length === 0 ? (
        <p className="empty">None.</p>
      ) : (
        <ul className="failures">
          {failures.map((failure) => (
            <li key={`${failure.node} ${failure.at} ${failure.contractId}`}>
              <span>
                <strong>{failure.node}</strong> {failure.job}{' '}
                <code>{shorten(failure.contractId, 16)}</code>
                <span className="muted">
                  {' '}
                  {failure.code}: {failure.message}
                </span>
              </span>
              <button
                type="button"
                onClick={() => act(() => api.jobs.retry.mutate(failure))}
                aria-label={`Retry ${failure.job} on ${failure.node}`}
              >
                Retry
              </button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function QueueTable({ services }: { readonly services: readonly ServiceJobs[] }) {
  const names = [...new Set(services.flatMap(({ jobs }) => Object.keys(jobs?.queues ?? {})))]
  return (
    <table className="queues">
      <thead>
        <tr>
          <th scope="col">Job</th>
          {services.map(({ node }) => (
            <th key={node} scope="col" className="number">
              {node}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {services.map(({ node, jobs }) => {
              const counts = jobs?.queues[name]
              const total =
                counts === undefined ? null : counts.waiting + counts.delayed + counts.active
              return (
                <td
                  key={node}
                  className={`number ${total ? '' : 'muted'}`}
                  title={
                    counts === undefined
                      ? undefined
                      : `${counts.waiting} waiting, ${counts.delayed} put off, ${counts.active} running`
                  }
                >
                  {total ?? (jobs === null ? '?' : '')}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

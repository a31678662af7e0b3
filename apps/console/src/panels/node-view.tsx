/** One process looked at closely: how it votes, what it holds, what waits, and what it says. */
import { bytes, milliseconds, orderingWords, type Tone } from 'quorumscan/view'
import type { Fault, NodeStatus, Sample, NodeView as Seen, ServiceJobs, Status } from '../api.ts'
import { logLineOf } from '../log-line.ts'
import { Chips, CloseButton, Fields, Modal, StateMark } from '../parts.tsx'
import { clockTime, timeOfDay } from '../time.ts'
import { type Shown, usePolled } from '../use-cluster.ts'
import { Waiting } from './queues.tsx'

/** A node, the validator, or the synchronizer. */
export type Target = {
  readonly name: string
  readonly kind: 'node' | 'validator' | 'synchronizer'
  readonly state: NodeStatus['state']
  readonly faults: readonly Fault[]
}

const POLL_MS = 2000
/** As many as the measured share of agreement is of. */
const VOTES_SHOWN = 60
const ERRORS_SHOWN_MAX = 5

export function NodeView(props: {
  readonly target: Target
  readonly shown: Shown
  readonly onClose: () => void
}) {
  const { target } = props
  const { api, status, samples } = props.shown
  const { name } = target
  const seen = usePolled(() => api.nodes.view.query({ node: name }), POLL_MS)
  const services = usePolled(() => api.jobs.list.query(), POLL_MS)
  const node = status.nodes.find((one) => one.name === name)
  const { p50Ms = null, p99Ms = null } = node ?? {}
  const jobs = services?.find((one) => one.node === name)
  return (
    <Modal title={name} className="node-view" onClose={props.onClose}>
      <p className="result">
        <StateMark state={target.state} /> <Chips faults={target.faults} />
        {node?.detail ? <span className="muted">{node.detail}</span> : null}
      </p>
      <Fields
        rows={[
          ['Log height', heightOf(name, status)],
          ...(target.kind !== 'node'
            ? []
            : [
                ['Certificate', certificateWords(seen, status)] as const,
                ['Latency', `${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}`] as const,
              ]),
          ['Redis', storeWords(seen)],
          ['Disk left', seen === null ? 'asking …' : bytes(seen.store.diskFreeBytes)],
        ]}
      />
      {target.kind === 'node' ? <Votes name={name} samples={samples} /> : null}
      {target.kind === 'synchronizer' ? null : (
        <>
          <h3>Queues</h3>
          {jobs === undefined ? <p className="empty">Asking …</p> : <Waiting services={[jobs]} />}
        </>
      )}
      <h3>Last errors</h3>
      <Errors lastError={node?.lastError ?? null} jobs={jobs} logs={seen?.logs ?? []} />
      <h3>Logs</h3>
      {seen?.logs.map(({ process, lines }, index) => (
        <details key={process} open={index === 0}>
          <summary>{process}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <section className="log" tabIndex={0} aria-label={`Log of ${process}, newest first`}>
            <pre>{lines.length === 0 ? 'It has said nothing yet.' : textOf(lines)}</pre>
          </section>
        </details>
      ))}
      <p className="dialog-actions">
        <CloseButton label="Close" />
      </p>
    </Modal>
  )
}

/** Newest first, so that what has just been said is in sight. */
function textOf(lines: readonly string[]): string {
  return lines
    .map((line) => logLineOf(line).text)
    .reverse()
    .join('\n')
}

function heightOf(name: string, status: Status): string {
  const node = status.nodes.find((one) => one.name === name)
  const member = status.members.find((one) => one.name === name)
  const newest = Math.max(...status.nodes.map(({ offset }) => offset ?? 0))
  const applied =
    node === undefined
      ? `the nodes have come to offset ${newest}`
      : node.offset === null
        ? `unknown; the newest is offset ${newest}`
        : `offset ${node.offset}, ${node.lag ? `${node.lag} behind` : 'the newest'}`
  return member === undefined ? applied : `${applied}; ${orderingWords(member, false)}`
}

function certificateWords(seen: Seen | null, status: Status): string {
  if (seen === null) return 'asking …'
  const { certificate } = seen
  if (certificate === null) return 'none'
  if ('problem' in certificate) return `none: ${certificate.problem}`
  const { offset, recordTime, signers } = certificate
  return `offset ${offset} of ${clockTime(recordTime)}, signed by ${signers.join(', ')} (${signers.length} of ${status.cluster.n})`
}

function storeWords(seen: Seen | null): string {
  if (seen === null) return 'asking …'
  const { memoryBytes, fileBytes } = seen.store
  if (memoryBytes === null && fileBytes === null) return 'unknown: it does not answer'
  return `${bytes(memoryBytes)} of memory, ${bytes(fileBytes)} on the disk`
}

/** How it voted, in a color and in words. */
const votesShown: Readonly<Record<Sample['nodes'][number]['vote'], readonly [Tone, string]>> = {
  agreed: ['good', 'agreed'],
  dissented: ['bad', 'dissented'],
  failed: ['warn', 'gave no answer'],
  unknown: ['idle', 'with nothing to compare'],
}

/** What it said each second, as lookups heard it. */
function Votes({ name, samples }: { readonly name: string; readonly samples: readonly Sample[] }) {
  const votes = samples
    .slice(-VOTES_SHOWN)
    .flatMap(({ at, nodes }) =>
      nodes.filter(({ node }) => node === name).map((vote) => ({ at, ...vote })),
    )
  const text = Object.entries(votesShown)
    .map(([kind, [, words]]) => [votes.filter(({ vote }) => vote === kind).length, words] as const)
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(', ')
  return (
    <>
      <h3>Votes</h3>
      <div className="vote-strip" aria-hidden="true">
        {votes.map(({ at, vote, reason }) => (
          <span key={at} className={votesShown[vote][0]} title={reason ?? votesShown[vote][1]} />
        ))}
      </div>
      <p className="muted small">
        {votes.length === 0 ? 'None measured yet.' : `Of the last ${votes.length}: ${text}.`}
      </p>
    </>
  )
}

function Errors(props: {
  readonly lastError: string | null
  readonly jobs: ServiceJobs | undefined
  readonly logs: Seen['logs']
}) {
  const { lastError, jobs, logs } = props
  const failed = (jobs?.jobs?.failures ?? []).map(
    ({ at, job, code, message }) => `${timeOfDay(at)} ${job} failed: ${code}, ${message}`,
  )
  const logged = logs.flatMap(({ lines }) =>
    lines
      .map(logLineOf)
      .filter(({ isTrouble }) => isTrouble)
      .map(({ text }) => text)
      .slice(-ERRORS_SHOWN_MAX)
      .reverse(),
  )
  const errors = [
    ...(lastError === null ? [] : [`To a lookup within the last minute: ${lastError}`]),
    ...failed.slice(0, ERRORS_SHOWN_MAX),
    ...logged,
  ]
  if (errors.length === 0) return <p className="empty">None.</p>
  return (
    <ul className="failures">
      {[...new Set(errors)].map((error) => (
        <li key={error}>{error}</li>
      ))}
    </ul>
  )
}

/** Details of one process: its votes, certificate, store, queues, errors and logs. */
import { bytes, engineSummary, milliseconds, type Tone } from 'quorumscan/view'
import type { Fault, NodeDetails, NodeStatus, Sample, ServiceJobs, Status } from '../api.ts'
import { logLineOf } from '../log-line.ts'
import { Chips, CloseButton, Fields, Modal, StateMark } from '../parts.tsx'
import { clockTime } from '../time.ts'
import { type ClusterSnapshot, usePolled } from '../use-cluster.ts'
import { Waiting } from './queues.tsx'

/** A node, the validator, or the synchronizer. */
export type Target = Pick<NodeStatus, 'name' | 'state'> & {
  readonly kind: 'node' | 'validator' | 'synchronizer'
  readonly faults: readonly Fault[]
}

const POLL_MS = 2000
const LOADING = 'loading …'
/** The number of votes from which the share of agreement is computed. */
const VOTES_SHOWN = 60
const ERRORS_SHOWN_MAX = 5

export type NodeProps = { readonly target: Target; readonly snapshot: ClusterSnapshot }

export function NodeView(props: NodeProps & { readonly onClose: () => void }) {
  const { name, kind, state, faults } = props.target
  const { api, status, samples } = props.snapshot
  const seen = usePolled(() => api.nodes.view.query({ node: name }), POLL_MS)
  const services = usePolled(() => api.jobs.list.query(), POLL_MS)
  const node = status.nodes.find((one) => one.name === name)
  const { detail = null, p50Ms = null, p99Ms = null, lastError = null } = node ?? {}
  const jobs = services?.find((one) => one.node === name)
  const latency = `${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}`
  const rows: Parameters<typeof Fields>[0]['rows'] = [
    ['Head', describeHead(name, status)],
    ['Certificate', seen ? describeCertificate(seen, status) : LOADING],
    ['Latency', latency],
    ['Redis', seen ? describeStore(seen) : LOADING],
    ['Disk left', seen ? bytes(seen.store.diskFreeBytes) : LOADING],
  ]
  const ofNodes = ['Certificate', 'Latency']
  return (
    <Modal title={name} className="node-view" onClose={props.onClose}>
      <p className="result">
        <StateMark process={{ state, detail }} /> <Chips faults={faults} />
        {detail && <span className="muted">{detail}</span>}
      </p>
      <Fields rows={rows.filter(([title]) => kind === 'node' || !ofNodes.includes(title))} />
      {kind === 'node' && <Votes name={name} samples={samples} />}
      {kind !== 'synchronizer' && (
        <>
          <h3>Queues</h3>
          {jobs ? <Waiting services={[jobs]} /> : <p className="empty">Loading …</p>}
        </>
      )}
      <h3>Recent errors</h3>
      <Errors lastError={lastError} jobs={jobs} logs={seen?.logs ?? []} />
      <h3>Logs</h3>
      {seen?.logs.map(({ process, lines }, index) => (
        <details key={process} open={index === 0}>
          <summary>{process}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling areas must be reachable by keyboard. */}
          <section className="log" tabIndex={0} aria-label={`Log of ${process}, newest first`}>
            <pre>
              {lines
                .map((line) => logLineOf(line).text)
                .reverse()
                .join('\n') || 'No lines yet.'}
            </pre>
          </section>
        </details>
      ))}
      <p className="dialog-actions">
        <CloseButton label="Close" />
      </p>
    </Modal>
  )
}

function describeHead(name: string, { nodes, members }: Status): string {
  const node = nodes.find((one) => one.name === name)
  const member = members.find((one) => one.name === name)
  const newest = `newest offset of all nodes: ${Math.max(...nodes.map(({ offset }) => offset ?? 0))}`
  let applied = newest
  if (node?.offset === null) applied = `unknown; ${newest}`
  else if (node)
    applied = `offset ${node.offset}, ${node.lag ? `lags by ${node.lag}` : 'the newest'}`
  return member === undefined ? applied : `${applied}; ${engineSummary(member, false)}`
}

function describeCertificate({ certificate }: NodeDetails, { cluster }: Status): string {
  if (certificate === null) return 'none'
  if ('problem' in certificate) return `none: ${certificate.problem}`
  const { offset, recordTime, signers } = certificate
  return `offset ${offset} of ${clockTime(recordTime)}, signed by ${signers.join(', ')} (${signers.length} of ${cluster.n})`
}

function describeStore({ store: { memoryBytes, fileBytes } }: NodeDetails): string {
  return memoryBytes === null && fileBytes === null
    ? 'unknown: not reported'
    : `${bytes(memoryBytes)} of memory, ${bytes(fileBytes)} on disk`
}

/** A vote as a color and in words. */
const VOTE_LABELS: Readonly<Record<Sample['nodes'][number]['vote'], readonly [Tone, string]>> = {
  agreed: ['good', 'agreed'],
  dissented: ['bad', 'dissented'],
  failed: ['warn', 'without an answer'],
  unknown: ['idle', 'with nothing to compare'],
}

/** The vote of the node in each measured lookup. */
function Votes({ name, samples }: { readonly name: string; readonly samples: readonly Sample[] }) {
  const shown = samples.slice(-VOTES_SHOWN)
  const votes = shown.flatMap(({ at, nodes }) =>
    nodes.flatMap((vote) => (vote.node === name ? { at, ...vote } : [])),
  )
  const counted = Object.entries(VOTE_LABELS).flatMap(([kind, [, label]]) => {
    const count = votes.filter(({ vote }) => vote === kind).length
    return count > 0 ? `${count} ${label}` : []
  })
  return (
    <>
      <h3>Votes</h3>
      <div className="vote-strip" aria-hidden="true">
        {votes.map(({ at, vote, reason }) => (
          <span key={at} className={VOTE_LABELS[vote][0]} title={reason ?? VOTE_LABELS[vote][1]} />
        ))}
      </div>
      <p className="muted small">
        {votes.length === 0
          ? 'No votes measured yet.'
          : `Of the last ${votes.length}: ${counted.join(', ')}.`}
      </p>
    </>
  )
}

function Errors(props: {
  readonly lastError: string | null
  readonly jobs: ServiceJobs | undefined
  readonly logs: NodeDetails['logs']
}) {
  const failed = (props.jobs?.jobs?.failures ?? []).map(
    ({ at, job, code, message }) => `${clockTime(at)} ${job} failed: ${code}, ${message}`,
  )
  const logged = props.logs.flatMap(({ lines }) =>
    lines
      .map(logLineOf)
      .flatMap(({ isTrouble, text }) => (isTrouble ? text : []))
      .slice(-ERRORS_SHOWN_MAX)
      .reverse(),
  )
  const errors = [...failed.slice(0, ERRORS_SHOWN_MAX), ...logged]
  if (props.lastError !== null)
    errors.unshift(`Reply to a lookup within the last minute: ${props.lastError}`)
  if (errors.length === 0) return <p className="empty">None.</p>
  return (
    <ul className="failures">
      {[...new Set(errors)].map((error) => (
        <li key={error}>{error}</li>
      ))}
    </ul>
  )
}

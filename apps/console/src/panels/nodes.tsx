/** A row per node, with a menu of what can be done to it. */
import { milliseconds, missedVotes, orderingWords } from 'quorumscan/view'
import { useState } from 'react'
import { type NodeStatus, reasonOf, type Status } from '../api.ts'
import { Chips, Panel, Problem, Service, StateMark } from '../parts.tsx'
import type { Shown } from '../use-cluster.ts'
import { type Action, NodeMenu } from './node-menu.tsx'

const COLUMNS = ['Node', 'State', 'Offset', 'Lag', 'Latency', 'Agreement', 'Faults', 'Actions']
const NUMBERS = ['Offset', 'Lag', 'Latency', 'Agreement']

export function NodePanel({ shown }: { readonly shown: Shown }) {
  const { api, status, samples } = shown
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const newest = samples.at(-1)

  const act = (node: string, action: Action) => {
    setProblem(null)
    setBusy((names) => new Set([...names, node]))
    action
      .run()
      .catch((error: unknown) => setProblem(`${action.label} ${node}: ${reasonOf(error)}`))
      .finally(() => setBusy((names) => new Set([...names].filter((name) => name !== node))))
  }
  const healAll = () => act('all', { label: 'Heal', run: () => api.faults.heal.mutate({}) })
  return (
    <Panel
      title="Nodes"
      note={
        <button
          type="button"
          className="primary"
          disabled={status.faults.length === 0 || busy.has('all')}
          onClick={healAll}
        >
          Heal all{status.faults.length > 0 ? ` (${status.faults.length})` : ''}
        </button>
      }
    >
      <Problem text={problem} />
      <div className="scroll">
        <table className="nodes">
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th key={name} scope="col" className={NUMBERS.includes(name) ? 'number' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {status.nodes.map((node) => (
              <Row
                key={node.name}
                node={node}
                vote={
                  (node.state === 'up' &&
                    newest?.nodes.find((one) => one.node === node.name)?.vote) ||
                  'unknown'
                }
                isBusy={busy.has(node.name)}
                shown={shown}
                act={(action) => act(node.name, action)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Services shown={shown} act={act} />
      <Ordering status={status} />
    </Panel>
  )
}

function Row(props: {
  readonly node: NodeStatus
  readonly vote: string
  readonly isBusy: boolean
  readonly shown: Shown
  readonly act: (action: Action) => void
}) {
  const { node, vote, shown, act, isBusy } = props
  return (
    <tr className={isBusy ? 'busy' : ''}>
      <th scope="row" data-label="Node">
        {node.name}
      </th>
      <td data-label="State">
        <StateMark state={node.state} detail={node.detail} />
      </td>
      <td data-label="Offset" className="number">
        {node.offset ?? '–'}
      </td>
      <td data-label="Lag" className={`number ${(node.lag ?? 0) > 5 ? 'warn-text' : ''}`}>
        {node.lag ?? '–'}
      </td>
      <td data-label="Latency" className="number">
        {milliseconds(node.p50Ms)}
        {node.p99Ms === null ? null : (
          <span className="muted small"> p99 {milliseconds(node.p99Ms)}</span>
        )}
      </td>
      <td data-label="Agreement" className="number">
        <span className={vote === 'dissented' ? 'bad-text' : ''}>
          {node.agreement === null ? '–' : `${Math.round(node.agreement)} %`}
        </span>
        {vote === 'dissented' ? <span className="bad-text small"> disagrees</span> : null}
      </td>
      <td data-label="Faults" className={node.faults.length === 0 ? 'none' : ''}>
        {node.faults.length === 0 ? (
          <span className="muted">{node.state === 'unknown' ? '–' : 'none'}</span>
        ) : null}
        <Chips faults={node.faults} />
      </td>
      <td data-label="Actions" className="actions">
        <NodeMenu target={{ ...node, kind: 'node' }} shown={shown} act={act} />
      </td>
    </tr>
  )
}

/** The two processes that are no nodes; without them nothing is registered, or asked by quorum. */
function Services(props: {
  readonly shown: Shown
  readonly act: (node: string, action: Action) => void
}) {
  const { shown, act } = props
  const { status } = shown
  return (
    <div className="services">
      {(['validator', 'synchronizer'] as const).map((name) => {
        const { state } = status[name]
        const faults = status.faults.filter(({ spec }) => spec.node === name)
        return (
          <Service key={name} name={name} process={status[name]}>
            <Chips faults={faults} />
            <NodeMenu
              target={{ name, kind: name, state, faults }}
              shown={shown}
              act={(action) => act(name, action)}
            />
          </Service>
        )
      })}
    </div>
  )
}

/** How the members order together, a row each; nothing where one synchronizer does. */
function Ordering({ status }: { readonly status: Status }) {
  if (status.members.length === 0) return null
  return (
    <div className="services">
      {status.members.map((member) => (
        <Service key={member.name} name={`${member.name} orders`} process={member}>
          <span className="muted small">
            {orderingWords(member, missedVotes(status).includes(member.name))}
          </span>
        </Service>
      ))}
    </div>
  )
}

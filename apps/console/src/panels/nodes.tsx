/** A row for each node, with a menu of actions. */
import { engineSummary, milliseconds, missedBlockVotes } from 'quorumscan/view'
import { type ReactNode, useState } from 'react'
import { type NodeStatus, reasonOf } from '../api.ts'
import { Button, Chips, Panel, Problem, Service, StateMark } from '../parts.tsx'
import type { ClusterSnapshot } from '../use-cluster.ts'
import { type Action, NodeMenu } from './node-menu.tsx'

type Row = {
  readonly node: NodeStatus
  readonly isDissenting: boolean
  readonly snapshot: ClusterSnapshot
  readonly act: (action: Action) => void
}

/** The cell of a node in each column. */
const columns: Readonly<Record<string, (row: Row) => ReactNode>> = {
  State: ({ node }) => <StateMark process={node} />,
  Offset: ({ node }) => node.offset ?? '–',
  Lag: ({ node: { lag } }) => (
    <span className={(lag ?? 0) > 5 ? 'warn-text' : ''}>{lag ?? '–'}</span>
  ),
  Latency: ({ node: { p50Ms, p99Ms } }) => (
    <>
      {milliseconds(p50Ms)}
      {p99Ms !== null && <span className="muted small"> p99 {milliseconds(p99Ms)}</span>}
    </>
  ),
  Agreement: ({ node: { agreement }, isDissenting }) => (
    <span className={isDissenting ? 'bad-text' : ''}>
      {agreement === null ? '–' : `${Math.round(agreement)} %`}
      {isDissenting && <span className="small"> disagrees</span>}
    </span>
  ),
  Faults: ({ node: { faults, state } }) =>
    faults.length === 0 ? (
      <span className="muted none">{state === 'unknown' ? '–' : 'none'}</span>
    ) : (
      <Chips faults={faults} />
    ),
  Actions: ({ node, snapshot, act }) => (
    <NodeMenu target={{ ...node, kind: 'node' }} snapshot={snapshot} act={act} />
  ),
}

export function NodePanel({ snapshot }: { readonly snapshot: ClusterSnapshot }) {
  const { api, status, samples } = snapshot
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const newest = samples.at(-1)

  const act = (node: string, { label, run }: Action) => {
    setProblem(null)
    setBusy((names) => new Set([...names, node]))
    run()
      .catch((error: unknown) => setProblem(`${label} ${node}: ${reasonOf(error)}`))
      .finally(() => setBusy((names) => new Set([...names].filter((name) => name !== node))))
  }
  const count = status.faults.length
  return (
    <Panel
      title="Nodes"
      note={
        <Button
          className="primary"
          disabled={count === 0 || busy.has('all')}
          onClick={() => act('all', { label: 'Heal', run: () => api.faults.heal.mutate({}) })}
        >
          Heal all{count > 0 && ` (${count})`}
        </Button>
      }
    >
      <Problem text={problem} />
      <div className="scroll">
        <table className="nodes">
          <thead>
            <tr>
              {['Node', ...Object.keys(columns)].map((name) => (
                <th key={name} scope="col" data-label={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {status.nodes.map((node) => {
              const { name, state } = node
              const vote = newest?.nodes.find((one) => one.node === name)?.vote
              const isDissenting = state === 'up' && vote === 'dissented'
              const actHere = (action: Action) => act(name, action)
              const row = { node, isDissenting, snapshot, act: actHere }
              return (
                <tr key={name} className={busy.has(name) ? 'busy' : ''}>
                  <th scope="row" data-label="Node">
                    {name}
                  </th>
                  {Object.entries(columns).map(([label, show]) => (
                    <td key={label} data-label={label}>
                      {show(row)}
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <Services snapshot={snapshot} act={act} />
    </Panel>
  )
}

/** The processes that are not nodes: the validator, its synchronizer, and the ordering of each member, if members order. */
function Services(props: {
  readonly snapshot: ClusterSnapshot
  readonly act: (node: string, action: Action) => void
}) {
  const { snapshot, act } = props
  const { status } = snapshot
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
              snapshot={snapshot}
              act={(action) => act(name, action)}
            />
          </Service>
        )
      })}
      {status.members.map((member) => (
        <Service key={member.name} name={`Ordering, ${member.name}`} process={member}>
          <span className="muted small">
            {engineSummary(member, missedBlockVotes(status).includes(member.name))}
          </span>
        </Service>
      ))}
    </div>
  )
}

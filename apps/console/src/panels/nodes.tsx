/** A row per node, with what can be done to it. */
import { useState } from 'react'
import { type Api, type NodeStatus, reasonOf, type Sample, type Status } from '../api.ts'
import { Panel } from '../panel.tsx'
import { Chips, Problem, Service, StateMark } from '../parts.tsx'
import { breaksOf, milliseconds, orderingWords } from '../words.ts'

const COLUMNS = ['Node', 'State', 'Offset', 'Lag', 'Latency', 'Agreement', 'Faults', 'Actions']
const NUMBERS = ['Offset', 'Lag', 'Latency', 'Agreement']

type Action = { readonly label: string; readonly run: () => Promise<unknown> }

export function NodePanel(props: {
  readonly api: Api
  readonly status: Status
  readonly samples: readonly Sample[]
}) {
  const { api, status, samples } = props
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
                vote={newest?.nodes.find((one) => one.node === node.name)?.vote ?? 'unknown'}
                isBusy={busy.has(node.name)}
                isMember={status.members.length > 0}
                api={api}
                act={(action) => act(node.name, action)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Services api={api} status={status} act={act} />
      <Ordering status={status} />
    </Panel>
  )
}

function Row(props: {
  readonly node: NodeStatus
  readonly vote: string
  readonly isMember: boolean
  readonly isBusy: boolean
  readonly api: Api
  readonly act: (action: Action) => void
}) {
  const { node, vote, api, act, isBusy } = props
  const { kill, restart, pause, resume, wipe } = api.nodes
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
      <td data-label="Faults">
        {node.faults.length === 0 ? <span className="muted">none</span> : null}
        <Chips faults={node.faults} />
      </td>
      <td data-label="Actions" className="actions">
        <Button act={act} target={node.name} label="Kill" run={kill.mutate} danger />
        <Button act={act} target={node.name} label="Restart" run={restart.mutate} />
        {node.state === 'paused' ? (
          <Button act={act} target={node.name} label="Resume" run={resume.mutate} />
        ) : (
          <Button act={act} target={node.name} label="Pause" run={pause.mutate} />
        )}
        <Button act={act} target={node.name} label="Wipe" run={wipe.mutate} />
        <BreakPicker node={node} isMember={props.isMember} api={api} act={act} />
        <Button
          act={act}
          target={node.name}
          label="Heal"
          run={api.faults.heal.mutate}
          isDisabled={node.faults.length === 0}
        />
      </td>
    </tr>
  )
}

/** What can be done to a node beside its process: lies with its own keys, and its network, clock and memory. */
function BreakPicker(props: {
  readonly node: NodeStatus
  readonly isMember: boolean
  readonly api: Api
  readonly act: (action: Action) => void
}) {
  const { node, api, act } = props
  const inForce = node.faults.find(({ spec }) => spec.kind === 'lie')
  const value = inForce?.spec.kind === 'lie' ? `lie ${inForce.spec.lie}` : ''
  const breaks = breaksOf(node.name, props.isMember)
  return (
    <select
      className={value === '' ? '' : 'lying'}
      aria-label={`Break ${node.name}`}
      value={value}
      onChange={(event) => {
        const chosen = breaks
          .flatMap(({ faults }) => faults)
          .find(({ id }) => id === event.target.value)
        if (chosen === undefined) return
        act({ label: 'Break', run: () => api.faults.inject.mutate({ fault: chosen.fault }) })
      }}
    >
      <option value="" disabled>
        Break …
      </option>
      {breaks.map(({ title, faults }) => (
        <optgroup key={title} label={title}>
          {faults.map(({ id, words }) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  )
}

function Button(props: {
  readonly act: (action: Action) => void
  readonly target: string
  readonly label: string
  readonly run: (target: { readonly node: string }) => Promise<unknown>
  readonly danger?: boolean
  readonly isDisabled?: boolean
}) {
  const { target, label, run } = props
  return (
    <button
      type="button"
      className={props.danger === true ? 'danger' : ''}
      disabled={props.isDisabled ?? false}
      aria-label={`${label} ${target}`}
      onClick={() => props.act({ label, run: () => run({ node: target }) })}
    >
      {label}
    </button>
  )
}

/** The two processes that are no nodes; without them nothing is registered, or asked by quorum. */
function Services(props: {
  readonly api: Api
  readonly status: Status
  readonly act: (node: string, action: Action) => void
}) {
  const { api, status } = props
  return (
    <div className="services">
      {(['validator', 'synchronizer'] as const).map((name) => {
        const act = (action: Action) => props.act(name, action)
        return (
          <Service key={name} name={name} process={status[name]}>
            <Chips faults={status.faults.filter(({ spec }) => spec.node === name)} />
            <span className="actions">
              <Button act={act} target={name} label="Kill" run={api.nodes.kill.mutate} danger />
              <Button act={act} target={name} label="Restart" run={api.nodes.restart.mutate} />
            </span>
          </Service>
        )
      })}
    </div>
  )
}

/** How the members order together, a row each; nothing where one synchronizer does. */
function Ordering({ status }: { readonly status: Status }) {
  const reports = status.members.flatMap(({ ordering }) => ordering ?? [])
  const newest = reports.toSorted((one, other) => other.height - one.height)[0]
  if (status.members.length === 0) return null
  return (
    <div className="services">
      {status.members.map((member) => (
        <Service key={member.name} name={`${member.name} orders`} process={member}>
          <span className="muted small">
            {orderingWords(member, newest?.absent.includes(member.name) === true)}
          </span>
        </Service>
      ))}
    </div>
  )
}

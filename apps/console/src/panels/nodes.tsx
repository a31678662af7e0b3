/** A row per node, with what can be done to it. */
import { useState } from 'react'
import { type Api, type NodeStatus, reasonOf, type Sample, type Status } from '../api.ts'
import { Panel } from '../panel.tsx'
import { breaksOf, faultWords, milliseconds, orderingWords, states } from '../words.ts'

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
      {problem === null ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="scroll">
        <table className="nodes">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Offset
              </th>
              <th scope="col" className="number">
                Lag
              </th>
              <th scope="col" className="number">
                Latency
              </th>
              <th scope="col" className="number">
                Agreement
              </th>
              <th scope="col">Faults</th>
              <th scope="col">Actions</th>
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
  const { word, sign, tone } = states[node.state]
  const target = { node: node.name }
  return (
    <tr className={isBusy ? 'busy' : ''}>
      <th scope="row" data-label="Node">
        {node.name}
      </th>
      <td data-label="State">
        <span className={`state ${tone}`} title={node.detail ?? undefined}>
          <span aria-hidden="true" className="sign">
            {sign}
          </span>
          {word}
        </span>
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
        {node.faults.length === 0 ? (
          <span className="muted">none</span>
        ) : (
          node.faults.map(({ id, spec }) => (
            <span key={id} className="chip">
              {faultWords(spec)}
            </span>
          ))
        )}
      </td>
      <td data-label="Actions" className="actions">
        <Button
          act={act}
          target={node.name}
          label="Kill"
          run={() => api.nodes.kill.mutate(target)}
          danger
        />
        <Button
          act={act}
          target={node.name}
          label="Restart"
          run={() => api.nodes.restart.mutate(target)}
        />
        {node.state === 'paused' ? (
          <Button
            act={act}
            target={node.name}
            label="Resume"
            run={() => api.nodes.resume.mutate(target)}
          />
        ) : (
          <Button
            act={act}
            target={node.name}
            label="Pause"
            run={() => api.nodes.pause.mutate(target)}
          />
        )}
        <Button
          act={act}
          target={node.name}
          label="Wipe"
          run={() => api.nodes.wipe.mutate(target)}
        />
        <BreakPicker node={node} isMember={props.isMember} api={api} act={act} />
        <Button
          act={act}
          target={node.name}
          label="Heal"
          run={() => api.faults.heal.mutate(target)}
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
  readonly run: () => Promise<unknown>
  readonly danger?: boolean
  readonly isDisabled?: boolean
}) {
  return (
    <button
      type="button"
      className={props.danger === true ? 'danger' : ''}
      disabled={props.isDisabled ?? false}
      aria-label={`${props.label} ${props.target}`}
      onClick={() => props.act({ label: props.label, run: props.run })}
    >
      {props.label}
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
        const { word, sign, tone } = states[status[name].state]
        const act = (action: Action) => props.act(name, action)
        const faults = status.faults.filter(({ spec }) => spec.node === name)
        return (
          <div key={name} className="service">
            <strong>{name}</strong>
            <span className={`state ${tone}`}>
              <span aria-hidden="true" className="sign">
                {sign}
              </span>
              {word}
            </span>
            {faults.map(({ id, spec }) => (
              <span key={id} className="chip">
                {faultWords(spec)}
              </span>
            ))}
            <span className="actions">
              <Button
                act={act}
                target={name}
                label="Kill"
                run={() => api.nodes.kill.mutate({ node: name })}
                danger
              />
              <Button
                act={act}
                target={name}
                label="Restart"
                run={() => api.nodes.restart.mutate({ node: name })}
              />
            </span>
          </div>
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
      {status.members.map((member) => {
        const { word, sign, tone } = states[member.state]
        return (
          <div key={member.name} className="service">
            <strong>{member.name} orders</strong>
            <span className={`state ${tone}`} title={member.detail ?? undefined}>
              <span aria-hidden="true" className="sign">
                {sign}
              </span>
              {word}
            </span>
            <span className="muted small">
              {orderingWords(member, newest?.absent.includes(member.name) === true)}
            </span>
          </div>
        )
      })}
    </div>
  )
}

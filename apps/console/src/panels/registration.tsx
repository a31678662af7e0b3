/** The walk of a name: each request a user makes, and each super-validator's confirmation as it arrives. */
import { useState } from 'react'
import type { Api, Registration } from '../api.ts'
import { ExactField, Form, Panel, Problem, useAct } from '../parts.tsx'
import { clockTime } from '../time.ts'
import { usePolled } from '../use-cluster.ts'

const POLL_MS = 400
const SUFFIX = '.unverified.ns'

export function RegistrationPanel(props: { readonly api: Api; readonly nodes: readonly string[] }) {
  const { api } = props
  const [label, setLabel] = useState('')
  const [problem, act] = useAct()
  const registrations = usePolled(() => api.registrations.list.query(), POLL_MS)
  const start = () => {
    const name = label.includes('.') ? label.trim() : `${label.trim()}${SUFFIX}`
    const user = label.split('.', 1)[0]?.replace(/[^a-z0-9-]/g, '-') || 'console'
    act(() => api.registrations.start.mutate({ name, user: user.slice(0, 32) }))
  }
  return (
    <Panel title="Register a name" note="as a user would">
      <Form onSubmit={start}>
        <ExactField
          className="grow narrow"
          label="Name"
          value={label}
          onText={setLabel}
          placeholder="dave"
          required
        />
        <span className="suffix muted">{label.includes('.') ? '' : SUFFIX}</span>
        <button type="submit" className="primary">
          Register
        </button>
      </Form>
      <Problem text={problem} />
      {registrations === null || registrations.length === 0 ? (
        <p className="empty">
          Become a user, get coin, ask, pay; then the super-validators confirm, and it can be looked
          up.
        </p>
      ) : (
        <ol className="walks">
          {registrations.slice(0, 3).map((registration, index) => (
            <li key={registration.id}>
              <Walk registration={registration} nodes={props.nodes} isOpen={index === 0} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

const tones = { running: 'warn', done: 'good', failed: 'bad' } as const

function Walk(props: {
  readonly registration: Registration
  readonly nodes: readonly string[]
  readonly isOpen: boolean
}) {
  const { registration } = props
  const { confirmations, neededCount, state, steps } = registration
  return (
    <details open={props.isOpen}>
      <summary>
        <strong>{registration.name}</strong>{' '}
        <span className={`badge ${tones[state]}`}>{state}</span>
      </summary>
      <ol className="steps">
        {steps.slice(0, 4).map((step) => (
          <Step key={step.title} step={step} />
        ))}
        {registration.payment === null ? null : (
          <li className={confirmations.length >= neededCount ? 'good' : 'warn'}>
            <span>
              {confirmations.length} confirmed, {neededCount} needed
            </span>
            <span className="confirmers">
              {props.nodes.map((node) => {
                const seen = confirmations.find((one) => one.node === node)
                return (
                  <span
                    key={node}
                    className={`chip ${seen === undefined ? 'waiting' : 'good'}`}
                    title={seen === undefined ? undefined : `offset ${seen.offset}`}
                  >
                    {seen === undefined ? '○' : '●'} {node}
                  </span>
                )
              })}
            </span>
          </li>
        )}
        {steps.slice(4).map((step) => (
          <Step key={step.title} step={step} />
        ))}
        {registration.problem === null ? null : <li className="bad">{registration.problem}</li>}
      </ol>
    </details>
  )
}

function Step({ step }: { readonly step: Registration['steps'][number] }) {
  return (
    <li className="good">
      <span>
        {step.title} <span className="muted small">{clockTime(step.at)}</span>
      </span>
      <code className="small" title={step.body}>
        {step.request.length > 64 ? `${step.request.slice(0, 63)}…` : step.request} → {step.status}
      </code>
    </li>
  )
}

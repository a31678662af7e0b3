/** The steps of a registration: each request of a user, and each super-validator's confirmation as it arrives. */
import { shorten } from 'quorumscan/view'
import { useState } from 'react'
import type { Api, Registration } from '../api.ts'
import { ExactField, Form, Panel, Problem, useAct } from '../parts.tsx'
import { clockTime } from '../time.ts'
import { usePolled } from '../use-cluster.ts'

const POLL_MS = 400
const SUFFIX = '.unverified.ns'
const STEPS_BEFORE_CONFIRMATIONS = 4

export function RegistrationPanel(props: { readonly api: Api; readonly nodes: readonly string[] }) {
  const { api, nodes } = props
  const [isWhole, setWhole] = useState(false)
  const [problem, act] = useAct()
  const registrations = usePolled(() => api.registrations.list.query(), POLL_MS) ?? []
  const start = (text: string) => {
    const name = text.includes('.') ? text : `${text}${SUFFIX}`
    const user = text.split('.', 1)[0]?.replace(/[^a-z0-9-]/g, '-') || 'console'
    act(() => api.registrations.start.mutate({ name, user: user.slice(0, 32) }))
  }
  return (
    <Panel title="Register a name" note="as a user would">
      <Form onSubmit={(textOf) => start(textOf('name'))}>
        <ExactField
          label="Name"
          name="name"
          onInput={({ currentTarget }) => setWhole(currentTarget.value.includes('.'))}
          placeholder="dave"
          required
        />
        <span className="suffix muted">{isWhole ? '' : SUFFIX}</span>
        <button type="submit" className="primary">
          Register
        </button>
      </Form>
      <Problem text={problem} />
      {registrations.length === 0 ? (
        <p className="empty">
          A registration onboards a user, gets coin, requests the name and pays. Then the
          super-validators confirm, and lookups find the name.
        </p>
      ) : (
        <ol className="registrations">
          {registrations.slice(0, 3).map((one, index) => (
            <li key={one.id}>
              <RegistrationSteps registration={one} nodes={nodes} isOpen={index === 0} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

const tones = { running: 'warn', done: 'good', failed: 'bad' } as const

function RegistrationSteps(props: {
  readonly registration: Registration
  readonly nodes: readonly string[]
  readonly isOpen: boolean
}) {
  const { name, confirmations, neededCount, payment, problem, state, steps } = props.registration
  const items = steps.map((step) => <Step key={step.title} step={step} />)
  if (payment)
    items.splice(
      STEPS_BEFORE_CONFIRMATIONS,
      0,
      <li key="confirmed" className={confirmations.length >= neededCount ? 'good' : 'warn'}>
        <span>
          {confirmations.length} confirmed, {neededCount} needed
        </span>
        <span className="confirmers">
          {props.nodes.map((node) => {
            const offset = confirmations.find((one) => one.node === node)?.offset
            return offset === undefined ? (
              <span key={node} className="chip waiting">{`○ ${node}`}</span>
            ) : (
              <span key={node} className="chip good" title={`offset ${offset}`}>{`● ${node}`}</span>
            )
          })}
        </span>
      </li>,
    )
  return (
    <details open={props.isOpen}>
      <summary>
        <strong>{name}</strong> <span className={`badge ${tones[state]}`}>{state}</span>
      </summary>
      <ol className="steps">
        {items}
        {problem && <li className="bad">{problem}</li>}
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
        {shorten(step.request, 64)} → {step.status}
      </code>
    </li>
  )
}

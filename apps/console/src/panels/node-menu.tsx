/** What can be done to one process: a menu of its own, with what destroys apart, and asked for twice. */
import { useId, useState } from 'react'
import type { Api } from '../api.ts'
import { CloseButton, durationChoices, Form, Modal, Select } from '../parts.tsx'
import type { Shown } from '../use-cluster.ts'
import { breaksOf } from '../words.ts'
import { NodeView, type Target } from './node-view.tsx'

export type Action = { readonly label: string; readonly run: () => Promise<unknown> }

const DURATIONS_S = [10, 30, 60, 300]
const DEFAULT_DURATION_S = 60

type Asked = 'view' | 'break' | 'kill' | 'wipe' | 'wipe disk'
/** What destroys something, and what becomes of it. */
const destructions = {
  kill: {
    label: 'Kill',
    words:
      'Its process ends at once, as by SIGKILL, and stays away until it is healed or restarted.',
  },
  wipe: {
    label: 'Wipe',
    words: 'Its replica is deleted and rebuilt from the log, which takes as long as the log is.',
  },
  'wipe disk': {
    label: 'Wipe disk',
    words: 'All that it has but its keys is deleted; it gets it again from the others.',
  },
} as const

export function NodeMenu(props: {
  readonly target: Target
  readonly shown: Shown
  readonly act: (action: Action) => void
}) {
  const { target, shown, act } = props
  const { api, status } = shown
  const { name, kind, state } = target
  const [asked, setAsked] = useState<Asked | null>(null)
  const menu = useId()
  const { kill, restart, pause, resume, wipe } = api.nodes
  const item = (label: string, run: () => unknown, look = '') => (
    <button
      type="button"
      className={look}
      popoverTarget={menu}
      popoverTargetAction="hide"
      onClick={() => void run()}
    >
      {label}
    </button>
  )
  const once = (label: string, run: (input: { readonly node: string }) => Promise<unknown>) =>
    item(label, () => act({ label, run: () => run({ node: name }) }))
  const destroy: Record<keyof typeof destructions, () => Promise<unknown>> = {
    kill: () => kill.mutate({ node: name }),
    wipe: () => wipe.mutate({ node: name }),
    'wipe disk': () => wipe.mutate({ node: name, disk: true }),
  }
  const offered = [
    'kill',
    ...(kind === 'synchronizer' ? [] : ['wipe']),
    ...(kind === 'node' && status.members.length > 0 ? ['wipe disk'] : []),
  ] as (keyof typeof destructions)[]
  const close = () => setAsked(null)
  return (
    <>
      <button type="button" popoverTarget={menu} aria-label={`Actions for ${name}`}>
        <span aria-hidden="true">⋯</span>
      </button>
      <section id={menu} popover="auto" aria-label={`Actions for ${name}`} className="menu">
        {item('View …', () => setAsked('view'))}
        {once('Restart', restart.mutate)}
        {state === 'paused' ? once('Resume', resume.mutate) : once('Pause', pause.mutate)}
        {kind === 'node' ? item('Break …', () => setAsked('break')) : null}
        {target.faults.length === 0 ? null : once('Heal', api.faults.heal.mutate)}
        <hr />
        {offered.map((each) => (
          <span key={each}>
            {item(`${destructions[each].label} …`, () => setAsked(each), 'danger')}
          </span>
        ))}
      </section>
      {asked === null ? null : asked === 'view' ? (
        <NodeView target={target} shown={shown} onClose={close} />
      ) : asked === 'break' ? (
        <BreakDialog
          node={name}
          isMember={status.members.length > 0}
          api={api}
          act={act}
          onClose={close}
        />
      ) : (
        <Modal title={`${destructions[asked].label} ${name}?`} onClose={close}>
          <p>{destructions[asked].words}</p>
          <p className="dialog-actions">
            <CloseButton label="Cancel" />
            <button
              type="button"
              className="danger"
              onClick={() => {
                act({ label: destructions[asked].label, run: destroy[asked] })
                close()
              }}
            >
              {destructions[asked].label} {name}
            </button>
          </p>
        </Modal>
      )}
    </>
  )
}

/** Kind, duration, Apply: nothing happens before. */
function BreakDialog(props: {
  readonly node: string
  readonly isMember: boolean
  readonly api: Api
  readonly act: (action: Action) => void
  readonly onClose: () => void
}) {
  const { node, api, act, onClose } = props
  const [kind, setKind] = useState('')
  const [seconds, setSeconds] = useState<number>(DEFAULT_DURATION_S)
  const breaks = breaksOf(node, props.isMember)
  const apply = () => {
    const chosen = breaks.flatMap(({ faults }) => faults).find(({ id }) => id === kind)
    if (chosen === undefined) return
    const durationMs = seconds === 0 ? null : seconds * 1000
    const { fault } = chosen
    act({ label: 'Break', run: () => api.faults.inject.mutate({ fault, durationMs }) })
    onClose()
  }
  return (
    <Modal title={`Break ${node}`} onClose={onClose}>
      <Form onSubmit={apply}>
        <label className="grow">
          Kind
          <select required value={kind} onChange={(event) => setKind(event.target.value)}>
            <option value="">Choose …</option>
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
        </label>
        <Select
          label="Duration"
          value={seconds}
          choices={[...durationChoices(DURATIONS_S), [0, 'until healed']]}
          onValue={setSeconds}
        />
        <p className="dialog-actions">
          <CloseButton label="Cancel" />
          <button type="submit" className="primary">
            Apply
          </button>
        </p>
      </Form>
    </Modal>
  )
}

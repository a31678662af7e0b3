/** The menu of one process. Destructive actions are listed separately and ask for confirmation. */
import { useId, useState } from 'react'
import type { Api } from '../api.ts'
import { faultChoicesOf } from '../fault-choices.ts'
import { Button, CloseButton, durationChoices, Form, Modal, Select } from '../parts.tsx'
import { type NodeProps, NodeView } from './node-view.tsx'

export type Action = { readonly label: string; readonly run: () => Promise<unknown> }

const DURATIONS = [...durationChoices([10, 30, 60, 300]), [0, 'until healed'] as const]

/** Destructive actions with their consequences, in the order of the menu. */
function destructionsOf({ target: { name: node, kind }, snapshot: { api, status } }: NodeProps) {
  const { kill, wipe } = api.nodes
  const all = [
    {
      label: 'Kill',
      isOffered: true,
      consequence:
        'The process ends at once, as by SIGKILL, and stays down until it is healed or restarted.',
      run: () => kill.mutate({ node }),
    },
    {
      label: 'Wipe',
      isOffered: kind !== 'synchronizer',
      consequence: 'Its replica is deleted and rebuilt from the log. A longer log takes longer.',
      run: () => wipe.mutate({ node }),
    },
    {
      label: 'Wipe disk',
      isOffered: kind === 'node' && status.members.length > 0,
      consequence:
        'Everything on its disk except the keys is deleted. It fetches the data from the others.',
      run: () => wipe.mutate({ node, disk: true }),
    },
  ]
  return all.filter(({ isOffered }) => isOffered)
}

export function NodeMenu({ act, ...of }: NodeProps & { readonly act: (action: Action) => void }) {
  const { target, snapshot } = of
  const { api, status } = snapshot
  const { name, kind, state } = target
  const [opened, setOpened] = useState<string | null>(null)
  const menu = useId()
  const close = () => setOpened(null)
  const item = (label: string, run: () => unknown, look = '') => (
    <Button
      key={label}
      className={look}
      popoverTarget={menu}
      popoverTargetAction="hide"
      onClick={() => void run()}
    >
      {label}
    </Button>
  )
  const once = (label: string, run: (input: { readonly node: string }) => Promise<unknown>) =>
    item(label, () => act({ label, run: () => run({ node: name }) }))
  const { restart, pause, resume } = api.nodes
  const destructions = destructionsOf(of)
  const destruction = destructions.find(({ label }) => label === opened)
  return (
    <>
      <Button popoverTarget={menu} aria-label={`Actions for ${name}`}>
        <span aria-hidden="true">⋯</span>
      </Button>
      <section id={menu} popover="auto" aria-label={`Actions for ${name}`} className="menu">
        {item('View …', () => setOpened('View'))}
        {once('Restart', restart.mutate)}
        {state === 'paused' ? once('Resume', resume.mutate) : once('Pause', pause.mutate)}
        {kind === 'node' && item('Break …', () => setOpened('Break'))}
        {target.faults.length > 0 && once('Heal', api.faults.heal.mutate)}
        <hr />
        {destructions.map(({ label }) => item(`${label} …`, () => setOpened(label), 'danger'))}
      </section>
      {opened === 'View' && <NodeView {...of} onClose={close} />}
      {opened === 'Break' && (
        <BreakDialog
          node={name}
          isOrderingMember={status.members.length > 0}
          inject={api.faults.inject.mutate}
          act={act}
          onClose={close}
        />
      )}
      {destruction && (
        <Modal title={`${destruction.label} ${name}?`} onClose={close}>
          <p>{destruction.consequence}</p>
          <p className="dialog-actions">
            <CloseButton label="Cancel" />
            <Button
              className="danger"
              onClick={() => {
                act(destruction)
                close()
              }}
            >
              {destruction.label} {name}
            </Button>
          </p>
        </Modal>
      )}
    </>
  )
}

/** Choose a kind and a duration; nothing happens before Apply. */
function BreakDialog(props: {
  readonly node: string
  readonly isOrderingMember: boolean
  readonly inject: Api['faults']['inject']['mutate']
  readonly act: (action: Action) => void
  readonly onClose: () => void
}) {
  const { node, inject, act, onClose } = props
  const breaks = faultChoicesOf(node, props.isOrderingMember)
  const apply = (textOf: (name: string) => string) => {
    const chosen = breaks.flatMap(({ faults }) => faults).find(({ id }) => id === textOf('kind'))
    if (chosen === undefined) return
    const durationMs = Number(textOf('seconds')) * 1000 || null
    act({ label: 'Break', run: () => inject({ fault: chosen.fault, durationMs }) })
    onClose()
  }
  return (
    <Modal title={`Break ${node}`} onClose={onClose}>
      <Form onSubmit={apply}>
        <Select label="Kind" name="kind" required>
          <option value="">Choose …</option>
          {breaks.map(({ title, faults }) => (
            <optgroup key={title} label={title}>
              {faults.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
        </Select>
        <Select label="Duration" name="seconds" defaultValue={60} choices={DURATIONS} />
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

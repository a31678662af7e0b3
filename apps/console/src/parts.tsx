/** Components that several panels use. */
import { stateLabel } from '@quorumscan/errors/node-words'
import { signOfState } from 'quorumscan/view'
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Fault, type NodeStatus, reasonOf } from './api.ts'

export type Act = (work: () => Promise<unknown>) => void

/** Why the last action failed, null if it did not, and a function that starts an action. */
export function useAct(): readonly [string | null, Act] {
  const [problem, setProblem] = useState<string | null>(null)
  const act: Act = (work) => {
    setProblem(null)
    work().catch((error: unknown) => setProblem(reasonOf(error)))
  }
  return [problem, act]
}

export function Problem({ text }: { readonly text: string | null }) {
  return text === null ? null : (
    <p className="problem" role="alert">
      {text}
    </p>
  )
}

/** A button that submits nothing. */
export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />
}

/** `onSubmit` receives the text of a field by its name. */
export function Form(props: {
  readonly onSubmit: (textOf: (name: string) => string) => void
  readonly children: ReactNode
}) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        const fields = new FormData(event.currentTarget)
        props.onSubmit((name) => String(fields.get(name) ?? '').trim())
      }}
    >
      {props.children}
    </form>
  )
}

type Labelled<Tag extends 'input' | 'select'> = ComponentProps<Tag> & { readonly label: string }

/** A field for text in which each letter counts: a name, a party, a seed. */
export function ExactField({ label, ...input }: Labelled<'input'>) {
  return (
    <label className="grow narrow">
      {label}
      <input {...input} spellCheck={false} autoCapitalize="none" autoComplete="off" />
    </label>
  )
}

/** `isBare`: the label is for screen readers only. Children come before the choices. */
export function Select({
  label,
  choices = [],
  isBare = false,
  children,
  ...select
}: Labelled<'select'> & {
  readonly choices?: readonly (readonly [value: string | number, label: string])[]
  readonly isBare?: boolean
}) {
  return (
    <label>
      <span className={isBare ? 'visually-hidden' : ''}>{label}</span>
      <select {...select}>
        {children}
        {choices.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Durations in words. */
export const durationChoices = (allSeconds: readonly number[]) =>
  allSeconds.map((s) => [s, s < 60 ? `${s} s` : `${s / 60} min`] as const)

type Process = Pick<NodeStatus, 'state' | 'detail'>

export function StateMark({ process }: { readonly process: Process }) {
  const { sign, tone } = signOfState[process.state]
  return (
    <span className={`state ${tone}`} title={process.detail ?? undefined}>
      <span aria-hidden="true" className="sign">
        {sign}
      </span>
      {stateLabel[process.state]}
    </span>
  )
}

/** A process without a row in the table of nodes. */
export function Service(props: {
  readonly name: string
  readonly process: Process
  readonly children: ReactNode
}) {
  return (
    <div className="service">
      <strong>{props.name}</strong>
      <StateMark process={props.process} />
      {props.children}
    </div>
  )
}

/** Names with their values. A title appears when the pointer rests on the value. */
export function Fields(props: {
  readonly rows: readonly (readonly [name: string, value: ReactNode, title?: string])[]
}) {
  return (
    <dl className="fields">
      {props.rows.map(([name, value, title]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={title}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Chips({ faults }: { readonly faults: readonly Pick<Fault, 'id' | 'words'>[] }) {
  return faults.map(({ id, words }) => (
    <span key={id} className="chip">
      {words}
    </span>
  ))
}

/** Saves a generated file under a name, or opens it in a new tab. */
export function downloadOrOpen(file: Blob, how: { download: string } | { target: '_blank' }) {
  const href = URL.createObjectURL(file)
  Object.assign(document.createElement('a'), how, { href }).click()
  // A tab loads it later.
  if ('download' in how) URL.revokeObjectURL(href)
}

/** A titled part of the page, reachable as a landmark. */
export function Panel(props: {
  readonly title: string
  readonly note?: ReactNode
  readonly children: ReactNode
}) {
  const id = `panel-${props.title.toLowerCase().replace(/[^a-z]+/g, '-')}`
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.note && <div className="muted note">{props.note}</div>}
      </div>
      {props.children}
    </section>
  )
}

/** The browser's own dialog, open as long as this component is mounted. */
export function Modal(props: {
  readonly title: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    // As a modal, so that the browser keeps the focus inside and restores it afterwards.
    dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={`panel ${props.className ?? ''}`}
      aria-labelledby={titleId}
      onClose={props.onClose}
    >
      <h2 id={titleId}>{props.title}</h2>
      {props.children}
    </dialog>
  )
}

/** Closes the dialog around it. */
export function CloseButton({ label }: { readonly label: string }) {
  return (
    <Button onClick={(event) => event.currentTarget.closest('dialog')?.close()}>{label}</Button>
  )
}

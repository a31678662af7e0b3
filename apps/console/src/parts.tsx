/** What several panels have in common. */
import { wordOfState } from '@quorumscan/errors/node-words'
import { signOfState } from 'quorumscan/view'
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Fault, type NodeStatus, reasonOf } from './api.ts'

/** Why the last thing that was asked for failed, and a way to ask for one. */
export function useAct(): readonly [string | null, (work: () => Promise<unknown>) => void] {
  const [problem, setProblem] = useState<string | null>(null)
  const act = (work: () => Promise<unknown>) => {
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

export function Form(props: { readonly onSubmit: () => void; readonly children: ReactNode }) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      {props.children}
    </form>
  )
}

/** For what means something letter by letter: a name, a party, a seed. */
export function ExactField({
  label,
  className,
  onText,
  ...input
}: ComponentProps<'input'> & {
  readonly label: string
  readonly onText: (text: string) => void
}) {
  return (
    <label className={className}>
      {label}
      <input
        {...input}
        onChange={(event) => onText(event.target.value)}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
      />
    </label>
  )
}

/** A choice of one; `isBare`: its label is for screen readers alone. */
export function Select<T extends string | number>(props: {
  readonly label: string
  readonly value: T
  readonly choices: readonly (readonly [value: T, words: string])[]
  readonly onValue: (value: T) => void
  readonly isBare?: boolean
}) {
  const { label, value, choices, onValue, isBare = false } = props
  return (
    <label>
      <span className={isBare ? 'unseen' : ''}>{label}</span>
      <select
        value={value}
        onChange={({ target }) => {
          for (const [one] of choices) if (String(one) === target.value) onValue(one)
        }}
      >
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Durations to choose from, in words. */
export const durationChoices = (allSeconds: readonly number[]) =>
  allSeconds.map((s) => [s, s < 60 ? `${s} s` : `${s / 60} min`] as const)

export function StateMark(props: {
  readonly state: NodeStatus['state']
  readonly detail?: string | null
}) {
  const { sign, tone } = signOfState[props.state]
  return (
    <span className={`state ${tone}`} title={props.detail ?? undefined}>
      <span aria-hidden="true" className="sign">
        {sign}
      </span>
      {wordOfState[props.state]}
    </span>
  )
}

/** A process that has no row of its own in the table of nodes. */
export function Service(props: {
  readonly name: string
  readonly process: Pick<NodeStatus, 'state' | 'detail'>
  readonly children: ReactNode
}) {
  const { state, detail } = props.process
  return (
    <div className="service">
      <strong>{props.name}</strong>
      <StateMark state={state} detail={detail} />
      {props.children}
    </div>
  )
}

/** Names with their values; a title is shown to a pointer that rests on the value. */
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

/** A file that was made here, saved under a name or opened in a tab of its own. */
export function handOut(file: Blob, how: { readonly download: string } | { target: '_blank' }) {
  const href = URL.createObjectURL(file)
  Object.assign(document.createElement('a'), how, { href }).click()
  // A tab loads it later.
  if ('download' in how) URL.revokeObjectURL(href)
}

/** A titled part of the page, reachable as a landmark. */
export function Panel(props: {
  readonly title: string
  readonly note?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) {
  const id = `panel-${props.title.toLowerCase().replace(/[^a-z]+/g, '-')}`
  return (
    <section className={`panel ${props.className ?? ''}`} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.note === undefined ? null : <div className="muted note">{props.note}</div>}
      </div>
      {props.children}
    </section>
  )
}

/** What is asked or shown apart from the page: the browser's own dialog, open as long as this is there. */
export function Modal(props: {
  readonly title: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    // Shown so that the browser keeps the focus inside, and gives it back.
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

/** Closes the dialog that it is in. */
export function CloseButton({ label }: { readonly label: string }) {
  return (
    <button type="button" onClick={(event) => event.currentTarget.closest('dialog')?.close()}>
      {label}
    </button>
  )
}

import type { ReactNode } from 'react'

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

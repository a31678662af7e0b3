/** What is asked or shown apart from the page: the browser's own dialog, open as long as this is there. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

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

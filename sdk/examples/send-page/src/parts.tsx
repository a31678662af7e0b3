import { usePartyName } from '@quorumscan/sdk/react'
import type { ReactNode } from 'react'
import { resolver } from './wallet.ts'

/** `good`: safe to act on. `warn`: ask first. `bad`: do not act. `idle`: nothing is known yet. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle'

const SIGNS: Readonly<Record<Tone, string>> = {
  good: 'M8 12.5l2.7 2.7L16 9.5',
  warn: 'M12 7.5v5.5M12 16.4v.1',
  bad: 'M9 9l6 6M15 9l-6 6',
  idle: 'M8 12h.1M12 12h.1M16 12h.1',
}

/** A sentence that is announced to screen readers, with what follows from it. */
export function Notice(props: {
  readonly tone: Tone
  readonly title: ReactNode
  readonly children?: ReactNode
}) {
  const { tone, title, children } = props
  return (
    <div className={`notice ${tone}`} role="status">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" />
        <path d={SIGNS[tone]} />
      </svg>
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  )
}

export function Button(props: {
  readonly children: ReactNode
  readonly isMain?: boolean
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  /** Default: submits the form. */
  readonly onClick?: () => void
}) {
  const { children, isMain = false, isBusy = false, isDisabled = false, onClick } = props
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      className={isMain ? 'main' : 'plain'}
      aria-busy={isBusy}
      disabled={isDisabled || isBusy}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

export function Card({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** The name of a party, if one leads back to it; else what the party calls itself, which proves nothing. */
export function PartyName({ party }: { readonly party: string }) {
  const { text, source } = usePartyName(party, { resolver })
  return (
    <span title={party} className={source === 'name' ? 'named' : 'unnamed'}>
      {text}
    </span>
  )
}

import { formatAmount, type NameEntry, type OwnEntry, type Shown } from '@quorumscan/sdk'
import { useName, useRegister, useRenew } from '@quorumscan/sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, Notice } from './parts.tsx'
import { dayOf } from './recipient.tsx'
import { useAccount } from './use-account.ts'
import { scan, validator, WALLET } from './wallet.ts'

const STEPS = { requested: 'Requested', paid: 'Paid', active: 'Confirmed' } as const

const PAYMENTS = {
  'not-paid': 'Nothing was paid.',
  unknown: 'It is not known whether it was paid. To try again is safe.',
  locked: 'The coin is locked: the name follows, or all of it is returned.',
  refunded: 'All of the coin was returned.',
  paid: 'It is paid. Try again to see the name.',
} as const

/** Names of the user, and the registration of another one. */
export function OwnNames() {
  const { data: account } = useAccount()
  const entries = account?.entries ?? []
  return (
    <Card title="Your names">
      {entries.length > 0 && (
        <ul className="list">
          {entries.map((entry) => (
            <Entry key={entry.name} entry={entry} />
          ))}
        </ul>
      )}
      <Register />
    </Card>
  )
}

function Entry({ entry }: { readonly entry: OwnEntry }) {
  const { name, expiresAt, renews } = entry
  const queries = useQueryClient()
  const renewal = useRenew({ names: validator.names })
  const leftMs = Date.parse(expiresAt) - Date.now()
  const renew = () =>
    renewal.mutate(
      { name, after: expiresAt },
      { onSettled: () => queries.invalidateQueries({ queryKey: WALLET }) },
    )
  return (
    <li>
      <span className="what">
        <strong>{name}</strong>
        <br />
        <span className="small muted">
          {renews ? 'until' : 'runs out on'} {dayOf(expiresAt)}
          {renewal.isError && `. ${renewal.error.message}`}
        </span>
      </span>
      {renews && leftMs < entry.paymentDurationMs && (
        <Button isBusy={renewal.isPending} onClick={renew}>
          Renew for ${formatAmount(entry.amount)}
        </Button>
      )}
    </li>
  )
}

function Register() {
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const { shown } = useName(typed, { names: scan.names })
  const isInvalid = shown.kind === 'failed' && shown.error.code === 'INVALID_NAME'
  const { mutate, isPending, isSuccess, data, steps, payment, error } = useRegister({
    names: validator.names,
  })
  return (
    <>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault()
          mutate(
            { name: typed },
            { onSettled: () => queries.invalidateQueries({ queryKey: WALLET }) },
          )
        }}
      >
        <label>
          {typed === '' ? 'A new name' : availabilityOf(shown)}
          <input
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            placeholder="alice"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        {/* A name of the user may be taken up again: an earlier call may have paid for it. */}
        <Button isBusy={isPending} isDisabled={typed === '' || isInvalid}>
          Register
        </Button>
      </form>
      {isPending && (
        <Notice tone="idle" title="Registering…">
          <p className="small">{steps.map(({ step }) => STEPS[step]).join(', ')}</p>
        </Notice>
      )}
      {isSuccess && <Notice tone="good" title={`${data.name} is yours`} />}
      {error !== null && (
        <Notice tone={payment === 'not-paid' ? 'bad' : 'warn'} title="Not registered">
          <p className="small">
            {error.message} {payment !== null && PAYMENTS[payment]}
          </p>
        </Notice>
      )}
    </>
  )
}

function availabilityOf(shown: Shown<NameEntry>): string {
  switch (shown.kind) {
    case 'pending':
      return 'A new name: checking…'
    case 'proven':
      return shown.value === null ? 'A new name: it is free' : 'A new name: it is taken'
    case 'failed':
      if (shown.error.code === 'INVALID_NAME') return 'A new name: a to z, 0 to 9, - and _'
  }
  return 'A new name'
}

import { useParty, useTransfer } from '@quorumscan/sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, Notice, PartyName } from './parts.tsx'
import { Recipient } from './recipient.tsx'
import { resolver, validator, WALLET } from './wallet.ts'

const STEPS = { stored: 'Stored', sent: 'Sent', done: 'Done' } as const

export function Send() {
  const [typed, setTyped] = useState('')
  const [amount, setAmount] = useState('1.0')
  const recipient = useParty(typed, { resolver })
  const queries = useQueryClient()
  const { mutate, isPending, steps, result, variables, error, unfinished, cancel } = useTransfer({
    payments: validator.payments,
  })
  const onSettled = () => queries.invalidateQueries({ queryKey: WALLET })
  const { party } = recipient

  return (
    <Card title="Send coin">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (party !== null) mutate({ receiver: party, coin: amount }, { onSettled })
        }}
      >
        <label>
          To
          <input
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            placeholder="Name or party"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        <Recipient typed={typed} recipient={recipient} />
        <label>
          Amount
          <input
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
            inputMode="decimal"
            autoComplete="off"
          />
        </label>
        <Button isMain isBusy={isPending} isDisabled={party === null || unfinished.length > 0}>
          {isPending ? 'Sending…' : 'Send'}
        </Button>
        {isPending && <Button onClick={cancel}>Cancel</Button>}
      </form>
      {isPending && (
        <p className="small muted">{steps.map(({ step }) => STEPS[step]).join(', ')}</p>
      )}
      {result?.kind === 'done' && variables !== undefined && (
        <Done transfer={'settle' in variables ? variables.transfer : variables} />
      )}
      {result?.kind === 'refused' && (
        <Notice tone="bad" title="Nothing was sent">
          <p>{result.error.message}</p>
        </Notice>
      )}
      {error !== null && (
        <Notice tone="bad" title="This call sent nothing">
          <p>{error.message}</p>
        </Notice>
      )}
      {result?.kind === 'unknown' && <p className="small muted">{result.error.message}</p>}
      {unfinished.map((payment) => (
        <Unfinished key={payment.id} onFinish={() => mutate(payment, { onSettled })} {...payment} />
      ))}
    </Card>
  )
}

/** null: it was no transfer. */
type Transfer = { readonly receiver: string; readonly coin: string } | null

function Done({ transfer }: { readonly transfer: Transfer }) {
  if (transfer === null) return <Notice tone="good" title="Done" />
  return (
    <Notice tone="good" title={`${transfer.coin} coin offered`}>
      <p>
        <PartyName party={transfer.receiver} /> has a day to accept it.
      </p>
    </Notice>
  )
}

function Unfinished({
  transfer,
  kind,
  name,
  onFinish,
}: {
  readonly transfer: Transfer
  readonly kind: string
  readonly name: string | null
  readonly onFinish: () => void
}) {
  return (
    <Notice tone="warn" title="It is not known whether a payment was made">
      <p>
        {transfer === null ? `${kind} ${name ?? ''}` : `${transfer.coin} coin to `}
        {transfer !== null && <PartyName party={transfer.receiver} />}. To finish it is safe: it
        pays at most once.
      </p>
      <p className="actions">
        <Button onClick={onFinish}>Finish it</Button>
      </p>
    </Notice>
  )
}

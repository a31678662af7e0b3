import { formatAmount, isQuorumscanError, type UnfinishedPayment } from '@quorumscan/sdk'
import { type TransferWork, useParty, useTransfer } from '@quorumscan/sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, Notice, PartyName } from './parts.tsx'
import { Recipient } from './recipient.tsx'
import { WALLET } from './use-account.ts'
import { resolver, validator } from './wallet.ts'

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
      {result?.kind === 'done' && variables !== undefined && <Done work={variables} />}
      {result?.kind === 'refused' && (
        <Notice tone="bad" title="Nothing was sent">
          <p>{sentenceOf(result.error)}</p>
        </Notice>
      )}
      {error !== null && (
        <Notice tone="bad" title="This call sent nothing">
          <p>{sentenceOf(error)}</p>
        </Notice>
      )}
      {result?.kind === 'unknown' && <p className="small muted">{sentenceOf(result.error)}</p>}
      {unfinished.map((payment) => (
        <Unfinished key={payment.id} onFinish={() => mutate(payment, { onSettled })} {...payment} />
      ))}
    </Card>
  )
}

function Done({ work }: { readonly work: TransferWork }) {
  const transfer = 'settle' in work ? work.transfer : work
  if (transfer === null) return <Notice tone="good" title="Done" />
  return (
    <Notice tone="good" title={`${formatAmount(transfer.coin)} coin offered`}>
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
}: UnfinishedPayment & { readonly onFinish: () => void }) {
  return (
    <Notice tone="warn" title="It is not known whether a payment was made">
      <p>
        {transfer === null ? `${kind} ${name ?? ''}` : `${formatAmount(transfer.coin)} coin to `}
        {transfer !== null && <PartyName party={transfer.receiver} />}. To finish it is safe: it
        pays at most once.
      </p>
      <p className="actions">
        <Button onClick={onFinish}>Finish it</Button>
      </p>
    </Notice>
  )
}

export function sentenceOf(error: unknown): string {
  return isQuorumscanError(error) ? error.message : String(error)
}

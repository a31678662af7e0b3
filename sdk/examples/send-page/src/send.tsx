import { isQuorumscanError } from '@quorumscan/sdk'
import { useParty } from '@quorumscan/sdk/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, Card, Notice, PartyName } from './parts.tsx'
import { type Payment, pay, storedPayment, storePayment } from './payment.ts'
import { Recipient } from './recipient.tsx'
import { WALLET } from './use-account.ts'
import { resolver } from './wallet.ts'

export function Send() {
  const [typed, setTyped] = useState('')
  const [amount, setAmount] = useState('1.0')
  const recipient = useParty(typed, { resolver })
  const queries = useQueryClient()
  const payment = useMutation({
    mutationFn: pay,
    onSettled: () => queries.invalidateQueries({ queryKey: WALLET }),
  })
  const { party } = recipient
  const unknown = payment.isPending ? null : storedPayment()

  return (
    <Card title="Send coin">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (party !== null) payment.mutate(storePayment({ receiver: party, amount }))
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
        <Recipient recipient={recipient} />
        <label>
          Amount
          <input
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
            inputMode="decimal"
            autoComplete="off"
          />
        </label>
        <Button isMain isBusy={payment.isPending} isDisabled={party === null || unknown !== null}>
          {payment.isPending ? 'Sending…' : 'Send'}
        </Button>
      </form>
      {payment.isSuccess && <Sent payment={payment.variables} />}
      {payment.isError && unknown === null && (
        <Notice tone="bad" title="Nothing was sent">
          <p>{sentenceOf(payment.error)}</p>
        </Notice>
      )}
      {unknown !== null && (
        <Notice tone="warn" title="It is not known whether a transfer was made">
          <p>
            {unknown.amount} coin to <PartyName party={unknown.receiver} />. To finish it is safe:
            it pays at most once.
          </p>
          {payment.isError && <p className="small muted">{sentenceOf(payment.error)}</p>}
          <p className="actions">
            <Button onClick={() => payment.mutate(unknown)}>Finish it</Button>
          </p>
        </Notice>
      )}
    </Card>
  )
}

function Sent({ payment }: { readonly payment: Payment }) {
  return (
    <Notice tone="good" title={`${payment.amount} coin offered`}>
      <p>
        <PartyName party={payment.receiver} /> has a day to accept it.
      </p>
    </Notice>
  )
}

export function sentenceOf(error: unknown): string {
  return isQuorumscanError(error) ? error.message : String(error)
}

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { History } from './history.tsx'
import { OwnNames } from './own-names.tsx'
import { Button, Notice, PartyName } from './parts.tsx'
import { Send } from './send.tsx'
import { useAccount } from './use-account.ts'
import { user, validator, WALLET } from './wallet.ts'

export function App() {
  return (
    <>
      <Account />
      <main>
        <Send />
        <div className="column">
          <OwnNames />
          <History />
        </div>
      </main>
    </>
  )
}

/** The user's party and coin. */
function Account() {
  const queries = useQueryClient()
  const { data: account, error } = useAccount()
  const tap = useMutation({
    mutationFn: async () => {
      const result = await validator.payments.tap({ usd: '10.0' })
      if (result.kind !== 'done') throw result.error
    },
    networkMode: 'always',
    onSettled: () => queries.invalidateQueries({ queryKey: WALLET }),
  })
  return (
    <header>
      <h1>
        <span className="avatar" aria-hidden="true">
          {user.slice(0, 1).toUpperCase()}
        </span>
        {account === undefined ? user : <PartyName party={account.party} />}
      </h1>
      <p className="balance">
        {account === undefined ? '…' : account.coin} <span className="muted">coin</span>
        <Button
          isBusy={tap.isPending}
          isDisabled={account === undefined}
          onClick={() => tap.mutate()}
        >
          Get coin
        </Button>
      </p>
      {(error ?? tap.error) && <Notice tone="bad" title={String((error ?? tap.error)?.message)} />}
    </header>
  )
}

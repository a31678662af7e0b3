import { formatAmount, type Transaction, toDate } from '@quorumscan/sdk'
import { Card, PartyName } from './parts.tsx'
import { useAccount } from './use-account.ts'

/** Transactions of the user, with the names of the others. */
export function History() {
  const { data: account } = useAccount()
  const rows = account?.transactions ?? []
  return (
    <Card title="History">
      <ul className="list">
        {account !== undefined &&
          rows.map((row) => <Row key={row.eventId} row={row} own={account.party} />)}
        {rows.length === 0 && <li className="muted">{account ? 'Nothing yet.' : 'Loading…'}</li>}
      </ul>
    </Card>
  )
}

function Row({ row, own }: { readonly row: Transaction; readonly own: string }) {
  const { party, text, amount } = describe(row, own)
  return (
    <li>
      <span className="what">
        {text} {party !== null && <PartyName party={party} />}
        <br />
        <span className="small muted">{toDate(row.date).toLocaleString()}</span>
      </span>
      {amount !== null && (
        <span className={amount.startsWith('-') ? 'amount' : 'amount in'}>
          {formatAmount(amount).replace('-', '−')}
        </span>
      )}
    </li>
  )
}

/** What happened, from the point of view of the user. `amount`: negative for what the user gave. */
function describe(row: Transaction, own: string) {
  if (row.transactionType === 'notification')
    return { text: row.details, party: null, amount: null }
  const gained = row.receivers.find(({ party }) => party === own)?.amount ?? null
  if (row.transactionType === 'balance_change') {
    const text = row.transferInstructionCid === null ? 'Coin created' : 'Offer ended, coin returned'
    return { text, party: null, amount: gained }
  }
  const { sender, transferInstructionReceiver: offeredTo, transferInstructionAmount } = row
  if (sender.party !== own)
    return {
      text: offeredTo === own ? 'Offer of' : 'From',
      party: sender.party,
      amount: transferInstructionAmount ?? gained,
    }
  if (offeredTo !== null)
    return { text: 'Offered to', party: offeredTo, amount: `-${transferInstructionAmount}` }
  const [other] = row.receivers.filter(({ party }) => party !== own)
  if (other === undefined) return { text: 'Coin locked for a name', party: null, amount: null }
  return { text: 'Paid to', party: other.party, amount: sender.amount }
}

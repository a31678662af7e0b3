import { type Transaction, toDate } from '@quorumscan/sdk'
import { Card, PartyName } from './parts.tsx'
import { shortAmount, useAccount } from './use-account.ts'

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
          {shortAmount(amount).replace('-', '−')}
        </span>
      )}
    </li>
  )
}

/** What happened, from the point of view of the user. */
function describe(row: Transaction, own: string) {
  if (row.transactionType === 'notification')
    return { text: row.details, party: null, amount: null }
  const gained = row.receivers.find(({ party }) => party === own)?.amount ?? null
  if (row.transactionType === 'balance_change')
    return {
      text: row.transferInstructionCid === null ? 'Coin' : 'Returned',
      party: null,
      amount: gained,
    }
  const { sender, transferInstructionReceiver, transferInstructionAmount } = row
  if (transferInstructionReceiver !== null) {
    const party = sender.party === own ? transferInstructionReceiver : sender.party
    const text = sender.party === own ? 'Offered to' : 'Offer of'
    return { text, party, amount: transferInstructionAmount }
  }
  const [other] = row.receivers.filter(({ party }) => party !== own)
  if (sender.party !== own) return { text: 'From', party: sender.party, amount: gained }
  return { text: other ? 'To' : 'Payment', party: other?.party ?? null, amount: sender.amount }
}

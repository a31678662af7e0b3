import { contractId, decimal, type LfValue, party, record, text, time } from '../lf.ts'
import { defineTemplate, sortedUnique } from '../template.ts'

/** An offer of coin that its receiver may accept until `executeBefore`. */
export const transferInstruction = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin.Transfer',
  entity: 'TransferInstruction',
  type: record('TransferInstruction', {
    dso: party,
    lockedCoin: contractId,
    transfer: record('Transfer', {
      sender: party,
      receiver: party,
      amount: decimal,
      requestedAt: time,
      executeBefore: time,
      description: text,
      trackingId: text,
    }),
  }),
  signatories: ({ dso, transfer }) => [dso, transfer.sender],
  observers: ({ transfer }) => [transfer.receiver],
  // The limit of open offers counts the offers of the sender, so that no party can use up the limit of another.
  keys: ({ transfer }) => [`offers:${transfer.sender}`],
  stakes: ({ transfer: { sender, receiver, amount } }) =>
    sortedUnique([sender, receiver]).map((party) => ({ party, amount })),
  due: ({ transfer }) => [{ job: 'expire-offer', at: transfer.executeBefore }],
})
export type TransferInstructionPayload = LfValue<typeof transferInstruction.type>

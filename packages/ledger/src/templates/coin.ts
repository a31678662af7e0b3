import { type LfValue, party, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { expiringAmount } from './shared.ts'

/** A holding that its owner can spend. */
export const coin = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin',
  entity: 'Coin',
  type: record('Coin', { dso: party, owner: party, amount: expiringAmount }),
  signatories: ({ dso, owner }) => [dso, owner],
  stakes: ({ owner, amount }) => [{ party: owner, amount: amount.initialAmount }],
  ensure: ({ amount }) => amount.initialAmount > 0n,
})
export type CoinPayload = LfValue<typeof coin.type>

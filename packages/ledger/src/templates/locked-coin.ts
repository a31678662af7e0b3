import { record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { coin } from './coin.ts'
import { timeLock } from './shared.ts'

/** A holding bound to a purpose: a payment in flight, an open offer, or a lock of the owner's own. */
export const lockedCoin = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin',
  entity: 'LockedCoin',
  type: record('LockedCoin', { coin: coin.type, lock: timeLock }),
  dso: (locked) => locked.coin.dso,
  signatories: (locked) => [locked.coin.dso, locked.coin.owner, ...locked.lock.holders],
  stakes: ({ coin: { owner, amount } }) => [{ party: owner, amount: amount.initialAmount }],
  ensure: (locked) => locked.coin.amount.initialAmount > 0n && locked.lock.holders.length > 0,
})

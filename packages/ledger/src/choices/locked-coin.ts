/** The two choices that end a lock. */
import { contractId, record } from '../lf.ts'
import { demand } from '../refusal.ts'
import { defineChoice } from '../template.ts'
import { coin } from '../templates/coin.ts'
import { lockedCoin } from '../templates/locked-coin.ts'
import { unique } from './common.ts'

/** Owner and holders release the coin together, at any time. */
export const unlock = defineChoice(lockedCoin, 'LockedCoin_Unlock', {
  consuming: true,
  worksWhenFull: true,
  argument: record('LockedCoin_Unlock', {}),
  result: record('LockedCoin_UnlockResult', { coinCid: contractId }),
  controllers: (locked) => unique([locked.coin.owner, ...locked.lock.holders]),
  run: (tx, { payload: locked }) => ({ coinCid: tx.create(coin, locked.coin) }),
})

/** The owner takes the coin back once the lock has ended. */
export const ownerExpireLock = defineChoice(lockedCoin, 'LockedCoin_OwnerExpireLock', {
  consuming: true,
  worksWhenFull: true,
  argument: record('LockedCoin_OwnerExpireLock', {}),
  result: record('LockedCoin_OwnerExpireLockResult', { coinCid: contractId }),
  controllers: (locked) => [locked.coin.owner],
  run(tx, { payload: locked }) {
    // A lock that the operator holds belongs to a payment or an offer, which ends together with it.
    demand(
      !locked.lock.holders.includes(locked.coin.dso),
      'CHOICE_REFUSED',
      'this coin is released by expiring the payment or the offer that it is locked for',
    )
    demand(locked.lock.expiresAt <= tx.now, 'CHOICE_REFUSED', 'the lock has not ended')
    return { coinCid: tx.create(coin, locked.coin) }
  },
})

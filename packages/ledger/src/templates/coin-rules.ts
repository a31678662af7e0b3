import { bool, decimal, party, record, relTime } from '../lf.ts'
import { ISSUED_AMOUNT_MAX } from '../limits.ts'
import { defineTemplate } from '../template.ts'

/** Singleton: rules for creation and transfer of coin (D-18). */
export const coinRules = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin.Rules',
  entity: 'CoinRules',
  type: record('CoinRules', {
    dso: party,
    isDevNet: bool,
    tickDuration: relTime,
    /** USD for one coin, taken over by each round that opens. */
    coinPrice: decimal,
    /** Coin for each super-validator when a round closes. */
    rewardPerRound: decimal,
  }),
  signatories: ({ dso }) => [dso],
  ensure: ({ tickDuration, coinPrice, rewardPerRound }) =>
    tickDuration > 0 &&
    coinPrice > 0n &&
    rewardPerRound >= 0n &&
    rewardPerRound <= ISSUED_AMOUNT_MAX,
  keys: () => ['singleton:CoinRules'],
})

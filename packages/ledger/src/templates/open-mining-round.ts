import { decimal, type LfValue, party, record, relTime, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { round } from './shared.ts'

/** One of three open rounds; the newest sets the price (D-22). */
export const openMiningRound = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin.Round',
  entity: 'OpenMiningRound',
  type: record('OpenMiningRound', {
    dso: party,
    round,
    coinPrice: decimal,
    opensAt: time,
    targetClosesAt: time,
    tickDuration: relTime,
  }),
  signatories: ({ dso }) => [dso],
  keys: () => ['rounds'],
  due: ({ targetClosesAt }) => [{ job: 'advance-rounds', at: targetClosesAt }],
})
export type OpenMiningRoundPayload = LfValue<typeof openMiningRound.type>

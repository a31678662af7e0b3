import { expect, it } from 'vitest'
import { describeCoin, meaningOfCoin } from './describe-coin.ts'
import { networkRules } from './rules.ts'

const nodes = Array.from({ length: 4 }, (_, index) => ({ name: `sv-${index + 1}` })) as never

/** The default rules with these changes, of four super-validators. */
function rules(changes: Parameters<typeof networkRules>[1] = {}) {
  return { ...networkRules('redis', { devnet: false, ...changes }), nodes }
}

it('computes what the rewards pay for', () => {
  expect(meaningOfCoin(rules())).toEqual({
    namePrice: '200.0000000000',
    coinPerDay: '5760.0000000000',
    namesPerDay: 28,
    namesKept: 2592,
    firstNameMicros: 200 * 60_000_000,
  })
  // A price that is no multiple of the reward, and a round that does not divide a day.
  const odd = { rewardPerRound: '7.0000000000', tickMicros: 7 * 60_000_000 }
  expect(meaningOfCoin(rules({ coin: { ...rules().coin, ...odd } }))).toEqual({
    namePrice: '200.0000000000',
    coinPerDay: '5760.0000000000',
    namesPerDay: 28,
    namesKept: 2592,
    firstNameMicros: 29 * 7 * 60_000_000,
  })
})

it('says what the rules mean, and warns about those with which a network cannot be used', () => {
  const byDefault = describeCoin(rules())
  expect(byDefault.meaning.join(' ')).toContain(
    'A name costs 200 coin. A super-validator can pay for its first name 200m after the start. ' +
      'All 4 super-validators together earn at most 5760 coin a day, which pays for 28 names a day, or keeps 2592 names renewed.',
  )
  expect(byDefault.warnings).toEqual([
    expect.stringMatching(/^the first name can be bought after 200m, and .* 28 names a day/),
  ])
  const enough = { coin: { rewardPerRound: '1000.0000000000' } }
  expect(describeCoin(rules(enough)).warnings).toEqual([])
  // Enough names a day, but the first one late; and the other way round.
  const late = { coin: { tickMicros: 2 * 3_600_000_000, rewardPerRound: '1000000.0000000000' } }
  expect(describeCoin(rules(late)).warnings).toHaveLength(1)
  const few = { coin: { tickMicros: 30 * 60_000_000, rewardPerRound: '200.0000000000' } }
  expect(describeCoin({ ...rules(few), nodes: [{}] as never }).warnings).toHaveLength(1)
  const none = describeCoin(rules({ coin: { rewardPerRound: '0.0000000000' } }))
  expect(none.meaning.join()).toContain('no coin is ever created')
  expect(none.warnings).toEqual([expect.stringContaining('no name can be paid for')])
  const hasty = { names: { requestLifetimeMicros: 20_000_000 } }
  expect(describeCoin(rules({ ...hasty, devnet: true })).warnings).toEqual([
    expect.stringContaining('a request for a name ends after 20s'),
  ])
  expect(describeCoin(rules({ devnet: true })).warnings).toEqual([])
})

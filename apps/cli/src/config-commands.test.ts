import { CommandError } from '@quorumscan/runtime'
import { expect, it } from 'vitest'
import { formatConfig, parseConfigChange } from './config-commands.ts'

it('reads changes of the rules, and leaves out rules that are not named', () => {
  expect(parseConfigChange(['entry-fee=2.5', 'entry-lifetime=90d'])).toEqual({
    entryFeeUsd: '2.5000000000',
    entryLifetimeMicros: 90 * 86_400_000_000,
  })
  expect(parseConfigChange(['renewal-duration=20s', 'description-prefix=a=b '])).toEqual({
    renewalDurationMicros: 20_000_000,
    descriptionPrefix: 'a=b ',
  })
})

it.each([
  'entry-fee=-1',
  'entry-fee=0',
  'entry-fee=0.00000000001',
  'entry-fee=',
  'entry-lifetime=0s',
  'entry-lifetime=1.5h',
  'entry-lifetime=90',
  'price=1',
  'constructor=1',
  'entry-fee',
])('refuses %s', (change) => {
  expect(() => parseConfigChange([change])).toThrow(CommandError)
})

it('refuses to set one rule twice', () => {
  expect(() => parseConfigChange(['entry-fee=1', 'entry-fee=2'])).toThrow(
    'entry-fee is set twice: set each rule once',
  )
})

it('shows the rules in the units of `config set`', () => {
  const config = {
    entryFeeUsd: '1.0000000000',
    entryLifetimeMicros: 36 * 3_600_000_000,
    renewalDurationMicros: 1,
    descriptionPrefix: 'ANS entry: ',
  }
  expect(formatConfig({ contractId: '00ab', config })).toMatchInlineSnapshot(`
    "entry-fee           1.0000000000 USD
    entry-lifetime      36h
    renewal-duration    1µs
    description-prefix  "ANS entry: "
    contract            00ab"
  `)
})

it('suggests the rule for a misspelt name, and lists all rules if no name is similar', () => {
  expect(() => parseConfigChange(['entry-fees=2'])).toThrow('did you mean entry-fee?')
  expect(() => parseConfigChange(['price=1'])).toThrow('The rules are entry-fee, entry-lifetime,')
})

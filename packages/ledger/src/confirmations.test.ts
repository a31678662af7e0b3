import { NAME_SUFFIX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { confirmResolveCommand, confirmSetConfigCommand } from './commands.ts'
import { ADDRESS_INTERVAL_MICROS } from './limits.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { ansRules } from './templates/ans-rules.ts'
import { confirmation } from './templates/confirmation.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { scanAddress } from './templates/scan-address.ts'
import { subscriptionRequest } from './templates/subscription-request.ts'
import { type Actor, amountOf, outcomeOf, resultOf, Scenario } from './testing/index.ts'

const NAME = `alice${NAME_SUFFIX}`

function paid(options?: ConstructorParameters<typeof Scenario>[0]) {
  const story = new Scenario(options)
  const alice = story.actor('alice')
  story.tap(alice, '200')
  return { story, alice, ...story.pay(alice, NAME) }
}

it.each([
  [1, 1],
  [3, 2],
  [4, 3],
  [7, 5],
  [13, 9],
])('of %i super-validators the confirmation of the %i-th resolves', (nodeCount, quorum) => {
  const { story, payment } = paid({ nodeCount })
  for (let index = 0; index < quorum; index++) {
    expect(story.ledger.all(ansEntry)).toEqual([])
    expect(story.ledger.all(confirmation)).toHaveLength(index)
    const { outcome } = resultOf(story.confirm(index, payment))
    if (index < quorum - 1) expect(outcome).toBeNull()
    else expect(outcome).toMatchObject({ tag: 'Collected' })
  }
  expect(story.ledger.all(ansEntry)).toHaveLength(1)
  expect(story.ledger.all(confirmation)).toEqual([])
})

it('a repeated confirmation is accepted and changes nothing', () => {
  const { story, payment } = paid()
  const first = resultOf(story.confirm(0, payment))
  const before = story.ledger.contracts().map(({ contractId }) => contractId)
  for (let repeat = 0; repeat < 5; repeat++)
    expect(resultOf(story.confirm(0, payment))).toEqual(first)
  expect(story.ledger.contracts().map(({ contractId }) => contractId)).toEqual(before)
})

it('a confirmation after the resolution finds no payment', () => {
  const { story, payment } = paid()
  story.resolve(payment)
  expect(outcomeOf(story.confirm(3, payment))).toBe('CONTRACT_NOT_FOUND')
})

it('confirmations of payments that never existed, or are something else, are refused', () => {
  const { story } = paid()
  expect(outcomeOf(story.confirm(0, `00${'ab'.repeat(32)}`))).toBe('CONTRACT_NOT_FOUND')
  expect(outcomeOf(story.confirm(0, story.the(ansRules)))).toBe('WRONGLY_TYPED_CONTRACT')
  expect(story.ledger.all(confirmation)).toEqual([])
})

it('of two payments of a name one is collected and one refunded, if an SV confirms both', () => {
  const { story, alice, payment } = paid()
  const bob = story.actor('bob')
  story.tap(bob, '200')
  const other = story.pay(bob, NAME)
  story.confirm(0, payment)
  story.confirm(0, other.payment)
  story.confirm(1, other.payment)
  story.confirm(2, payment)
  expect(resultOf(story.confirm(3, other.payment))['outcome']).toMatchObject({ tag: 'Collected' })
  expect(resultOf(story.confirm(3, payment))['outcome']).toMatchObject({ tag: 'Rejected' })
  expect(story.ledger.all(ansEntry).map(({ payload }) => payload.user)).toEqual([bob.party])
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
  expect(story.balance(bob)).toEqual({ unlocked: 0n, locked: 0n })
  expect(story.ledger.all(confirmation)).toEqual([])
})

it('one transaction that confirms two payments of one name collects one and refunds the other', () => {
  const { story, payment } = paid({ nodeCount: 1 })
  const bob = story.actor('bob')
  story.tap(bob, '200')
  const other = story.pay(bob, NAME)
  const sv = story.svs[0] as Actor
  const rules = story.the(dsoRules)
  const commands = [payment, other.payment].map((subject) =>
    confirmResolveCommand({ dsoRules: rules, confirmer: sv.party, payment: subject }),
  )
  expect(outcomeOf(story.submit(sv, commands))).toBe('accepted')
  expect(story.ledger.all(ansEntry)).toHaveLength(1)
  expect(story.balance(bob).unlocked).toBe(amountOf('200'))
})

const config = {
  renewalDuration: 8_000_000,
  entryLifetime: 20_000_000,
  entryFee: amountOf('2'),
  descriptionPrefix: 'Name: ',
}

function confirmConfig(story: Scenario, index: number, wanted = config, current?: string) {
  const sv = story.svs[index] as Actor
  return story.submit(
    sv,
    confirmSetConfigCommand({
      dsoRules: story.the(dsoRules),
      confirmer: sv.party,
      ansRules: current ?? story.the(ansRules),
      config: wanted,
    }),
  )
}

it('a config needs a quorum of equal votes; earlier requests keep their terms', () => {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.request(alice, NAME)
  const before = story.the(ansRules)
  confirmConfig(story, 0)
  confirmConfig(story, 1, { ...config, entryFee: amountOf('3') })
  confirmConfig(story, 2)
  expect(story.the(ansRules)).toBe(before)
  // The second one changes its mind: its new vote replaces the old one and completes the quorum.
  expect(resultOf(confirmConfig(story, 1))['outcome']).toMatchObject({ tag: 'ConfigSet' })
  expect(story.ledger.all(confirmation)).toEqual([])
  expect(story.ledger.all(ansRules).map(({ payload }) => payload.config)).toEqual([config])
  const [request] = story.ledger.all(subscriptionRequest)
  expect(request?.payload.payData.paymentAmount.amount).toBe(amountOf('1'))
  expect(outcomeOf(confirmConfig(story, 3, config, before))).toBe('CONTRACT_NOT_FOUND')
})

it('a super-validator has at most one vote for a config', () => {
  const story = new Scenario()
  for (let fee = 1; fee <= 5; fee++)
    confirmConfig(story, 0, { ...config, entryFee: amountOf(String(fee)) })
  expect(story.ledger.all(confirmation)).toHaveLength(1)
})

it.each([{ entryFee: 0n }, { entryLifetime: 0 }, { renewalDuration: -1 }, { entryLifetime: 9e15 }])(
  'a config out of range is refused: %o',
  (change) => {
    const story = new Scenario()
    expect(outcomeOf(confirmConfig(story, 0, { ...config, ...change }))).toBe('INVALID_ARGUMENT')
  },
)

const setUrl = (story: Scenario, address: Parameters<Scenario['publish']>[1]) =>
  story.publish(1, address)

it('an address record is stored with its signature, the higher sequence wins', () => {
  const story = new Scenario()
  const addresses = () => story.ledger.all(scanAddress).map(({ payload }) => payload)
  expect(outcomeOf(setUrl(story, { sequence: 5 }))).toBe('accepted')
  story.ledger.advance(ADDRESS_INTERVAL_MICROS)
  expect(outcomeOf(setUrl(story, { sequence: 5, url: 'http://127.0.0.1:1' }))).toBe(
    'CHOICE_REFUSED',
  )
  expect(outcomeOf(setUrl(story, { sequence: 6, url: 'http://127.0.0.1:2' }))).toBe('accepted')
  const { party } = story.svs[1] as Actor
  expect(addresses()).toMatchObject([
    { sv: party, name: 'sv-2', url: 'http://127.0.0.1:2', sequence: 6 },
  ])
})

it('a super-validator changes its address every ten seconds at most, to the microsecond', () => {
  const story = new Scenario()
  expect(outcomeOf(setUrl(story, { sequence: 1 }))).toBe('accepted')
  // Each entry has a record time 1 µs after the one before.
  story.ledger.advance(ADDRESS_INTERVAL_MICROS - 2)
  const again = () => outcomeOf(setUrl(story, { sequence: 2 }))
  expect([again(), again()]).toEqual(['CHOICE_REFUSED', 'accepted'])
})

it('a change of address does not invalidate pending confirmations', () => {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.tap(alice, '200')
  const { payment } = story.pay(alice, NAME)
  const rules = story.the(dsoRules)
  setUrl(story, { sequence: 1 })
  expect(story.the(dsoRules)).toBe(rules)
  expect(outcomeOf(story.confirm(0, payment))).toBe('accepted')
})

it('an address record that the scan key did not sign is refused', () => {
  const story = new Scenario()
  expect(outcomeOf(setUrl(story, { sequence: 1, signedUrl: 'http://other' }))).toBe(
    'INVALID_ARGUMENT',
  )
  expect(outcomeOf(setUrl(story, { sequence: 1, url: 'ftp://x' }))).toBe('INVALID_URL')
  expect(outcomeOf(setUrl(story, { sequence: 0 }))).toBe('INVALID_ARGUMENT')
})

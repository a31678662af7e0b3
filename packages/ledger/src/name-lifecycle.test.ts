import { type ContractId, NAME_SUFFIX } from '@quorumscan/model'
import { DAY_MICROS, HOUR_MICROS } from '@quorumscan/testkit'
import { expect, test } from 'vitest'
import { expireEntry } from './choices/ans-entry.ts'
import {
  acceptRequestCommand,
  advanceRoundsCommand,
  cancelSubscriptionCommand,
  collectRenewalCommand,
  exerciseCommand,
  expireEntryCommand,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  makePaymentCommand,
  refundPaymentCommand,
  rejectRequestCommand,
  requestEntryCommand,
  terminateSubscriptionCommand,
} from './commands.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { ansEntryContext } from './templates/ans-entry-context.ts'
import { ansRules } from './templates/ans-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { openMiningRound } from './templates/open-mining-round.ts'
import { subscription } from './templates/subscription.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from './templates/subscription-initial-payment.ts'
import { subscriptionPayment } from './templates/subscription-payment.ts'
import { subscriptionRequest } from './templates/subscription-request.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'
import { type Actor, amountOf, outcomeOf, Scenario } from './testing/index.ts'

const NAME = `alice${NAME_SUFFIX}`
const LOCK_MICROS = 3 * 600_000_000

/** What exists of the name service, by template. */
function contractsOf(story: Scenario): string[] {
  const counted = [
    ansEntryContext,
    ansEntry,
    subscriptionRequest,
    subscription,
    subscriptionInitialPayment,
    subscriptionIdleState,
    subscriptionPayment,
    terminatedSubscription,
  ]
  return counted.flatMap(({ entity }) =>
    story.ledger
      .contracts()
      .filter(({ templateId }) => templateId.endsWith(`:${entity}`))
      .map(() => entity),
  )
}

const REQUESTED = ['AnsEntryContext', 'SubscriptionRequest']
const PAID = ['AnsEntryContext', 'SubscriptionInitialPayment']
const TERMINATED = ['AnsEntryContext', 'TerminatedSubscription']
const ACTIVE = ['AnsEntryContext', 'AnsEntry', 'Subscription', 'SubscriptionIdleState']
const RENEWING = ['AnsEntryContext', 'AnsEntry', 'Subscription', 'SubscriptionPayment']

function begin(options?: ConstructorParameters<typeof Scenario>[0]) {
  const story = new Scenario(options)
  return { story, alice: story.actor('alice') }
}

function only(story: Scenario, template: typeof subscriptionIdleState): ContractId
function only(story: Scenario, template: typeof subscriptionPayment): ContractId
function only(story: Scenario, template: typeof terminatedSubscription): ContractId
function only(story: Scenario, template: Parameters<Scenario['ledger']['all']>[0]): ContractId {
  const found = story.ledger.all(template)
  expect(found).toHaveLength(1)
  return found[0]?.contractId as ContractId
}

function svOf(story: Scenario) {
  const sv = story.svs[3] as Actor
  return { sv, by: { dsoRules: story.the(dsoRules), sv: sv.party } }
}

/** An active entry at the start of its renewal window. */
function inRenewalWindow() {
  const { story, alice } = begin()
  const entry = story.register(alice, NAME)
  story.ledger.advance(60 * DAY_MICROS)
  return { story, alice, entry }
}

function payRenewal(story: Scenario, alice: Actor): ContractId {
  story.tap(alice, '200')
  const { paymentCid } = story.do(
    alice,
    makePaymentCommand({ idle: only(story, subscriptionIdleState), inputs: story.coins(alice) }),
  )
  return paymentCid as ContractId
}

test('— | POST entry/create → REQUESTED: a context and a request, the name is not reserved', () => {
  const { story, alice } = begin()
  story.request(alice, NAME)
  expect(contractsOf(story)).toEqual(REQUESTED)
  const bob = story.actor('bob')
  story.request(bob, NAME)
  expect(contractsOf(story)).toHaveLength(4)
})

test('— | POST entry/create: asks for one USD per lifetime, in the words of the rules', () => {
  const { story, alice } = begin()
  story.request(alice, NAME)
  const [request] = story.ledger.all(subscriptionRequest)
  expect(request?.payload).toMatchObject({
    subscriptionData: { sender: alice.party, description: `ANS entry: "${NAME}"` },
    payData: {
      paymentAmount: { amount: amountOf('1'), unit: 'USDUnit' },
      paymentInterval: 90 * DAY_MICROS,
      paymentDuration: 30 * DAY_MICROS,
    },
  })
})

test.each([
  ['alice.ns', '', '', 'NAME_SUFFIX_MISSING'],
  ['dso.ns', '', '', 'NAME_SUFFIX_MISSING'],
  ['sv-1.sv.ns', '', '', 'NAME_SUFFIX_MISSING'],
  [`Alice${NAME_SUFFIX}`, '', '', 'INVALID_NAME'],
  [`a.b${NAME_SUFFIX}`, '', '', 'INVALID_NAME'],
  [NAME, 'ftp://x', '', 'INVALID_URL'],
  [NAME, '', 'x'.repeat(141), 'INVALID_DESCRIPTION'],
])(
  '— | POST entry/create with %j %j: %s is refused by the ledger too',
  (name, url, description, code) => {
    const { story, alice } = begin()
    const result = story.submit(
      alice,
      requestEntryCommand({
        ansRules: story.the(ansRules),
        user: alice.party,
        name,
        url,
        description,
      }),
    )
    expect(outcomeOf(result)).toBe(code)
  },
)

test('REQUESTED | wallet reject → TERMINATED', () => {
  const { story, alice } = begin()
  const { request } = story.request(alice, NAME)
  story.do(alice, rejectRequestCommand({ request }))
  expect(contractsOf(story)).toEqual(TERMINATED)
})

test('REQUESTED | DSO withdraw after 24 h → everything is cleaned up', () => {
  const { story, alice } = begin()
  const { request } = story.request(alice, NAME)
  const { sv, by } = svOf(story)
  const expire = () => outcomeOf(story.submit(sv, expireRequestCommand({ ...by, request })))
  story.ledger.advance(DAY_MICROS - 2)
  expect(expire()).toBe('CHOICE_REFUSED')
  expect(expire()).toBe('accepted')
  expect(contractsOf(story)).toEqual([])
})

test('REQUESTED | wallet accept → PAID: the price is locked, the change comes back', () => {
  const { story, alice } = begin()
  story.tap(alice, '500')
  story.pay(alice, NAME)
  expect(contractsOf(story)).toEqual(PAID)
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('300'), locked: amountOf('200') })
})

test('REQUESTED | wallet accept without funds → stays REQUESTED', () => {
  const { story, alice } = begin()
  story.tap(alice, '199.9999999999')
  const { request } = story.request(alice, NAME)
  const inputs = story.coins(alice)
  expect(outcomeOf(story.submit(alice, acceptRequestCommand({ request, inputs })))).toBe(
    'INSUFFICIENT_FUNDS',
  )
  expect(contractsOf(story)).toEqual(REQUESTED)
})

test('REQUESTED | wallet accept at the expiry of the request is too late', () => {
  const { story, alice } = begin()
  story.tap(alice, '200')
  const { request } = story.request(alice, NAME)
  story.ledger.advance(DAY_MICROS - 1)
  const accept = acceptRequestCommand({ request, inputs: story.coins(alice) })
  expect(outcomeOf(story.submit(alice, accept))).toBe('CHOICE_REFUSED')
})

test('REQUESTED | a second accept of one request finds it gone', () => {
  const { story, alice } = begin()
  story.tap(alice, '500')
  const { request } = story.request(alice, NAME)
  story.do(alice, acceptRequestCommand({ request, inputs: story.coins(alice) }))
  const again = acceptRequestCommand({ request, inputs: story.coins(alice) })
  expect(outcomeOf(story.submit(alice, again))).toBe('CONTRACT_NOT_FOUND')
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('300'), locked: amountOf('200') })
})

test('PAID | SV quorum collect → ACTIVE: the coin is burned, the entry lives 90 days', () => {
  const { story, alice } = begin()
  story.tap(alice, '500')
  const { payment } = story.pay(alice, NAME)
  expect(story.resolve(payment)).toMatchObject({ tag: 'Collected' })
  expect(contractsOf(story)).toEqual(ACTIVE)
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('300'), locked: 0n })
  const [entry] = story.ledger.all(ansEntry)
  const [idle] = story.ledger.all(subscriptionIdleState)
  const now = story.ledger.head().recordTime
  expect(entry?.payload).toMatchObject({ user: alice.party, name: NAME })
  expect(entry?.payload.expiresAt).toBe(now + 90 * DAY_MICROS)
  expect(idle?.payload.nextPaymentDueAt).toBe(now + 90 * DAY_MICROS)
})

test('PAID | SV quorum reject for a live entry of the name → TERMINATED: refund in full', () => {
  const { story, alice } = begin()
  const bob = story.actor('bob')
  story.tap(alice, '200')
  story.tap(bob, '200')
  const first = story.pay(alice, NAME)
  const second = story.pay(bob, NAME)
  expect(story.resolve(first.payment)).toMatchObject({ tag: 'Collected' })
  expect(story.resolve(second.payment)).toMatchObject({
    tag: 'Rejected',
    value: { reason: 'a live entry has the name' },
  })
  expect(story.ledger.all(ansEntry)).toHaveLength(1)
  expect(story.balance(alice)).toEqual({ unlocked: 0n, locked: 0n })
  expect(story.balance(bob)).toEqual({ unlocked: amountOf('200'), locked: 0n })
  const owners = story.ledger.all(terminatedSubscription)
  expect(owners.map(({ payload }) => payload.subscriptionData.sender)).toEqual([bob.party])
})

test('PAID | an entry of the name that has expired but is not archived does not stand in the way', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  story.ledger.advance(90 * DAY_MICROS - 1)
  const bob = story.actor('bob')
  story.register(bob, NAME)
  const live = story.ledger
    .all(ansEntry)
    .filter(({ payload }) => payload.expiresAt > story.ledger.head().recordTime)
  expect(live.map(({ payload }) => payload.user)).toEqual([bob.party])
})

test('PAID | SV quorum collect after the round of the payment has closed → ACTIVE (D-22)', () => {
  const { story, alice } = begin()
  story.tap(alice, '200')
  // Locks and the newest round last three ticks: the payment, made a second later, outlives its round.
  story.ledger.advance(1_000_000)
  const { payment } = story.pay(alice, NAME)
  const paidIn = story.ledger.all(subscriptionInitialPayment)[0]?.payload.round.number
  const { sv, by } = svOf(story)
  story.ledger.advance(LOCK_MICROS - 10)
  for (let round = 0; round < 3; round++) story.submit(sv, advanceRoundsCommand(by))
  const open = story.ledger.all(openMiningRound).map(({ payload }) => payload.round.number)
  expect(open).not.toContain(paidIn)
  expect(story.resolve(payment)).toMatchObject({ tag: 'Collected' })
  expect(contractsOf(story)).toEqual(ACTIVE)
})

test('PAID | SV quorum when the lock has ended → TERMINATED: refund', () => {
  const { story, alice } = begin()
  story.tap(alice, '200')
  const { payment } = story.pay(alice, NAME)
  story.ledger.advance(LOCK_MICROS)
  expect(story.resolve(payment)).toMatchObject({
    tag: 'Rejected',
    value: { reason: 'the lock of the payment has ended' },
  })
  expect(contractsOf(story)).toEqual(TERMINATED)
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
})

test.each([
  [
    'the owner',
    (story: Scenario, alice: Actor, payment: ContractId) => ({
      actor: alice,
      command: refundPaymentCommand({ payment, paymentKind: 'initial', actor: alice.party }),
      story,
    }),
  ],
  [
    'a super-validator',
    (story: Scenario, _alice: Actor, payment: ContractId) => ({
      actor: svOf(story).sv,
      command: expirePaymentCommand({ ...svOf(story).by, payment }),
      story,
    }),
  ],
])('PAID | lock expiry, by %s → TERMINATED: refund', (_who, refund) => {
  const { story, alice } = begin()
  story.tap(alice, '200')
  const { payment } = story.pay(alice, NAME)
  story.confirm(0, payment)
  const { actor, command } = refund(story, alice, payment)
  story.ledger.advance(LOCK_MICROS - 3)
  expect(outcomeOf(story.submit(actor, command))).toBe('CHOICE_REFUSED')
  expect(outcomeOf(story.submit(actor, command))).toBe('accepted')
  expect(contractsOf(story)).toEqual(TERMINATED)
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
  expect(story.ledger.byKey(`confirmations:${payment}`)).toEqual([])
})

test('ACTIVE | wallet payment → RENEWING: from exactly 30 days before the due date on', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  story.tap(alice, '200')
  const pay = makePaymentCommand({
    idle: only(story, subscriptionIdleState),
    inputs: story.coins(alice),
  })
  story.ledger.advance(60 * DAY_MICROS - 3)
  expect(outcomeOf(story.submit(alice, pay))).toBe('CHOICE_REFUSED')
  expect(outcomeOf(story.submit(alice, pay))).toBe('accepted')
  expect(contractsOf(story)).toEqual(RENEWING)
  expect(story.balance(alice).locked).toBe(amountOf('200'))
})

test('RENEWING | any SV collect → ACTIVE: burned, 90 days more, a new contract id', () => {
  const { story, alice, entry } = inRenewalWindow()
  const before = story.ledger.all(ansEntry)[0]?.payload.expiresAt as number
  const payment = payRenewal(story, alice)
  const { sv, by } = svOf(story)
  story.do(sv, collectRenewalCommand({ ...by, payment }))
  expect(contractsOf(story)).toEqual(ACTIVE)
  const [renewed] = story.ledger.all(ansEntry)
  expect(renewed?.contractId).not.toBe(entry)
  expect(renewed?.payload.expiresAt).toBe(before + 90 * DAY_MICROS)
  expect(story.ledger.all(subscriptionIdleState)[0]?.payload.nextPaymentDueAt).toBe(
    before + 90 * DAY_MICROS,
  )
  expect(story.balance(alice)).toEqual({ unlocked: 0n, locked: 0n })
})

test('ACTIVE | an immediate second renewal is outside the window', () => {
  const { story, alice } = inRenewalWindow()
  const { sv, by } = svOf(story)
  story.do(sv, collectRenewalCommand({ ...by, payment: payRenewal(story, alice) }))
  story.tap(alice, '200')
  const again = makePaymentCommand({
    idle: only(story, subscriptionIdleState),
    inputs: story.coins(alice),
  })
  expect(outcomeOf(story.submit(alice, again))).toBe('CHOICE_REFUSED')
})

test('RENEWING | lock expiry before the due date → ACTIVE with the same due date', () => {
  const { story, alice } = inRenewalWindow()
  const due = story.ledger.all(subscriptionIdleState)[0]?.payload.nextPaymentDueAt
  const payment = payRenewal(story, alice)
  story.ledger.advance(LOCK_MICROS)
  const { sv, by } = svOf(story)
  expect(outcomeOf(story.submit(sv, collectRenewalCommand({ ...by, payment })))).toBe(
    'CHOICE_REFUSED',
  )
  story.do(sv, expirePaymentCommand({ ...by, payment }))
  expect(contractsOf(story)).toEqual(ACTIVE)
  expect(story.ledger.all(subscriptionIdleState)[0]?.payload.nextPaymentDueAt).toBe(due)
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
})

test('RENEWING | paid after the due date → LAPSED: never collected, refunded at lock expiry', () => {
  const { story, alice } = inRenewalWindow()
  story.ledger.advance(30 * DAY_MICROS)
  const payment = payRenewal(story, alice)
  const { sv, by } = svOf(story)
  expect(outcomeOf(story.submit(sv, collectRenewalCommand({ ...by, payment })))).toBe(
    'CHOICE_REFUSED',
  )
  story.ledger.advance(LOCK_MICROS)
  story.do(alice, refundPaymentCommand({ payment, paymentKind: 'renewal', actor: alice.party }))
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
  story.do(sv, expireSubscriptionCommand({ ...by, idle: only(story, subscriptionIdleState) }))
  expect(contractsOf(story)).toEqual(['AnsEntry'])
})

test('RENEWING | a payment for an entry that somebody else has by now is not collected', () => {
  const { story, alice } = inRenewalWindow()
  story.ledger.advance(30 * DAY_MICROS)
  story.register(story.actor('bob'), NAME)
  story.tap(alice, '200')
  const aliceIdle = story.ledger
    .all(subscriptionIdleState)
    .find(({ payload }) => payload.subscriptionData.sender === alice.party)
  const { paymentCid } = story.do(
    alice,
    makePaymentCommand({
      idle: aliceIdle?.contractId as ContractId,
      inputs: story.coins(alice),
    }),
  )
  const { sv, by } = svOf(story)
  const collect = collectRenewalCommand({ ...by, payment: paymentCid as ContractId })
  expect(outcomeOf(story.submit(sv, collect))).toBe('CHOICE_REFUSED')
})

test('ACTIVE | cancel (user) → ACTIVE-NO-RENEW: the entry stays, the context is cleaned up', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  story.do(alice, cancelSubscriptionCommand({ idle: only(story, subscriptionIdleState) }))
  expect(contractsOf(story)).toEqual(['AnsEntryContext', 'AnsEntry', 'TerminatedSubscription'])
  const { sv, by } = svOf(story)
  const terminated = only(story, terminatedSubscription)
  story.do(sv, terminateSubscriptionCommand({ ...by, terminated }))
  expect(contractsOf(story)).toEqual(['AnsEntry'])
})

test('ACTIVE | time → LAPSED: at expiresAt exactly the name is free', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  const bob = story.actor('bob')
  const expiresAt = story.ledger.all(ansEntry)[0]?.payload.expiresAt as number
  const request = () =>
    outcomeOf(
      story.submit(
        bob,
        requestEntryCommand({
          ansRules: story.the(ansRules),
          user: bob.party,
          name: NAME,
          url: '',
          description: '',
        }),
      ),
    )
  story.ledger.advance(expiresAt - 2 - story.ledger.head().recordTime)
  expect(request()).toBe('NAME_TAKEN')
  expect(request()).toBe('accepted')
})

test('ACTIVE-NO-RENEW | time → LAPSED: the name is free, its SV archives the entry', () => {
  const { story, alice } = begin()
  const entry = story.register(alice, NAME)
  const expiresAt = story.ledger.all(ansEntry)[0]?.payload.expiresAt as number
  story.do(alice, cancelSubscriptionCommand({ idle: only(story, subscriptionIdleState) }))
  const { sv, by } = svOf(story)
  story.do(
    sv,
    terminateSubscriptionCommand({ ...by, terminated: only(story, terminatedSubscription) }),
  )
  const bob = story.actor('bob')
  expect(() => story.request(bob, NAME)).toThrow(/NAME_TAKEN/)
  story.ledger.advance(expiresAt - 1 - story.ledger.head().recordTime)
  story.request(bob, NAME)
  story.do(sv, expireEntryCommand({ ...by, entry }))
  expect(contractsOf(story)).toEqual(REQUESTED)
})

test.each(['the owner', 'a super-validator'])(
  'LAPSED | %s archives the entry from expiresAt on',
  (who) => {
    const { story, alice } = begin()
    const entry = story.register(alice, NAME)
    const { sv, by } = svOf(story)
    const expire = () =>
      outcomeOf(
        who === 'the owner'
          ? story.submit(alice, exerciseCommand(expireEntry, entry, { actor: alice.party }))
          : story.submit(sv, expireEntryCommand({ ...by, entry })),
      )
    const expiresAt = story.ledger.all(ansEntry)[0]?.payload.expiresAt as number
    story.ledger.advance(expiresAt - 2 - story.ledger.head().recordTime)
    expect(expire()).toBe('CHOICE_REFUSED')
    expect(expire()).toBe('accepted')
    expect(story.ledger.all(ansEntry)).toEqual([])
  },
)

test('LAPSED | the subscription expires strictly after the due date, together with its context', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  const [idle] = story.ledger.all(subscriptionIdleState)
  const { sv, by } = svOf(story)
  const expire = expireSubscriptionCommand({ ...by, idle: idle?.contractId as ContractId })
  const due = idle?.payload.nextPaymentDueAt as number
  story.ledger.advance(due - 1 - story.ledger.head().recordTime)
  expect(outcomeOf(story.submit(sv, expire))).toBe('CHOICE_REFUSED')
  expect(outcomeOf(story.submit(sv, expire))).toBe('accepted')
  expect(contractsOf(story)).toEqual(['AnsEntry'])
})

test('TERMINATED | SV terminates: context and marker are archived', () => {
  const { story, alice } = begin()
  const { request } = story.request(alice, NAME)
  story.do(alice, rejectRequestCommand({ request }))
  const { sv, by } = svOf(story)
  const terminated = only(story, terminatedSubscription)
  story.do(sv, terminateSubscriptionCommand({ ...by, terminated }))
  expect(contractsOf(story)).toEqual([])
})

test('upstream timeline: day 60 pays, day 150 pays, day 271 pays and is refunded', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  const start = story.ledger.head().recordTime
  const { sv, by } = svOf(story)
  const goTo = (day: number) =>
    story.ledger.advance(start + day * DAY_MICROS - story.ledger.head().recordTime)
  goTo(60)
  story.do(sv, collectRenewalCommand({ ...by, payment: payRenewal(story, alice) }))
  goTo(150)
  story.do(sv, collectRenewalCommand({ ...by, payment: payRenewal(story, alice) }))
  expect(story.ledger.all(ansEntry)[0]?.payload.expiresAt).toBe(start + 270 * DAY_MICROS)
  goTo(271)
  const payment = payRenewal(story, alice)
  expect(outcomeOf(story.submit(sv, collectRenewalCommand({ ...by, payment })))).toBe(
    'CHOICE_REFUSED',
  )
  const [entry] = story.ledger.all(ansEntry)
  story.do(sv, expireEntryCommand({ ...by, entry: entry?.contractId as ContractId }))
  story.ledger.advance(HOUR_MICROS)
  story.do(sv, expirePaymentCommand({ ...by, payment }))
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('200'), locked: 0n })
})

test('a taken name is refused at the request already', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  const bob = story.actor('bob')
  expect(() => story.request(bob, NAME)).toThrow(/NAME_TAKEN/)
})

test('dso.ns and the entries of super-validators are no contracts: nothing expires or renews them', () => {
  const { story } = begin()
  expect(story.ledger.all(ansEntry)).toEqual([])
  for (const name of ['dso.ns', 'sv-1.sv.ns']) {
    expect(story.ledger.byKey(`name:${name}`)).toEqual([])
    expect(() => story.request(story.actor(`of-${name.length}`), name)).toThrow(
      /NAME_SUFFIX_MISSING/,
    )
  }
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContractId } from '@quorumscan/model'
import { DAY_MICROS, HOUR_MICROS } from '@quorumscan/testkit'
import { NAME_SUFFIX } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
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

/** Which contracts of the name service exist, by template. */
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

/** Rows of the table of states in docs/upstream.md that have tests here, in its order. */
const rows: string[] = []
function row(id: string, tests: () => void): void {
  rows.push(id)
  describe(id, tests)
}

row('– | create | REQUESTED', () => {
  it('makes a context and a request, and does not reserve the name', () => {
    const { story, alice } = begin()
    story.request(alice, NAME)
    expect(contractsOf(story)).toEqual(REQUESTED)
    const bob = story.actor('bob')
    story.request(bob, NAME)
    expect(contractsOf(story)).toHaveLength(4)
  })

  it('asks for one USD per lifetime, with the description from the rules', () => {
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

  it.each([
    ['alice.ns', '', '', 'NAME_SUFFIX_MISSING'],
    ['dso.ns', '', '', 'NAME_SUFFIX_MISSING'],
    ['sv-1.sv.ns', '', '', 'NAME_SUFFIX_MISSING'],
    [`Alice${NAME_SUFFIX}`, '', '', 'INVALID_NAME'],
    [`a.b${NAME_SUFFIX}`, '', '', 'INVALID_NAME'],
    [NAME, 'ftp://x', '', 'INVALID_URL'],
    [NAME, '', 'x'.repeat(141), 'INVALID_DESCRIPTION'],
  ])('is also refused by the ledger with %j %j: %s', (name, url, description, code) => {
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
  })
})

row('REQUESTED | reject, withdraw | TERMINATED', () => {
  it('ends a request that the user rejects', () => {
    const { story, alice } = begin()
    const { request } = story.request(alice, NAME)
    story.do(alice, rejectRequestCommand({ request }))
    expect(contractsOf(story)).toEqual(TERMINATED)
  })

  it('archives request and context after 24 h, by a super-validator', () => {
    const { story, alice } = begin()
    const { request } = story.request(alice, NAME)
    const { sv, by } = svOf(story)
    const expire = () => outcomeOf(story.submit(sv, expireRequestCommand({ ...by, request })))
    story.ledger.advance(DAY_MICROS - 2)
    expect(expire()).toBe('CHOICE_REFUSED')
    expect(expire()).toBe('accepted')
    expect(contractsOf(story)).toEqual([])
  })
})

row('REQUESTED | accept | PAID', () => {
  it('locks the price and returns the change', () => {
    const { story, alice } = begin()
    story.tap(alice, '500')
    story.pay(alice, NAME)
    expect(contractsOf(story)).toEqual(PAID)
    expect(story.balance(alice)).toEqual({ unlocked: amountOf('300'), locked: amountOf('200') })
  })

  it('is refused without enough coin', () => {
    const { story, alice } = begin()
    story.tap(alice, '199.9999999999')
    const { request } = story.request(alice, NAME)
    const inputs = story.coins(alice)
    expect(outcomeOf(story.submit(alice, acceptRequestCommand({ request, inputs })))).toBe(
      'INSUFFICIENT_FUNDS',
    )
    expect(contractsOf(story)).toEqual(REQUESTED)
  })

  it('is refused from the expiry of the request on', () => {
    const { story, alice } = begin()
    story.tap(alice, '200')
    const { request } = story.request(alice, NAME)
    story.ledger.advance(DAY_MICROS - 1)
    const accept = acceptRequestCommand({ request, inputs: story.coins(alice) })
    expect(outcomeOf(story.submit(alice, accept))).toBe('CHOICE_REFUSED')
  })

  it('is refused for a request that was accepted before', () => {
    const { story, alice } = begin()
    story.tap(alice, '500')
    const { request } = story.request(alice, NAME)
    story.do(alice, acceptRequestCommand({ request, inputs: story.coins(alice) }))
    const again = acceptRequestCommand({ request, inputs: story.coins(alice) })
    expect(outcomeOf(story.submit(alice, again))).toBe('CONTRACT_NOT_FOUND')
    expect(story.balance(alice)).toEqual({ unlocked: amountOf('300'), locked: amountOf('200') })
  })
})

row('PAID | collect, by a quorum | ACTIVE', () => {
  it('burns the coin and makes an entry for 90 days', () => {
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

  it('ignores an entry of the name that has expired and is not archived', () => {
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

  it('collects after the round of the payment has closed (D-22)', () => {
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
})

row('PAID | reject, by a quorum | TERMINATED', () => {
  it('refunds in full where a live entry has the name', () => {
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

  it('refunds when the lock has ended', () => {
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
})

row('PAID | the lock ends | TERMINATED', () => {
  it.each([
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
  ])('refunds the payment, by %s alone', (_who, refund) => {
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
})

row('ACTIVE | payment | RENEWING', () => {
  it('locks the price from exactly 30 days before the due date on', () => {
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

  it('is refused directly after a renewal, outside the window', () => {
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
})

row('RENEWING | collect | ACTIVE', () => {
  it('burns the coin and adds 90 days, with a new contract id, by one super-validator', () => {
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

  it('is refused for an entry that another party has by now', () => {
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
})

row('RENEWING | the lock ends | ACTIVE or LAPSED', () => {
  it('refunds before the due date, which stays', () => {
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

  it('refunds a payment after the due date, which cannot be collected', () => {
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
})

row('ACTIVE | cancel | ACTIVE, not renewed', () => {
  it('leaves the entry and ends the context', () => {
    const { story, alice } = begin()
    story.register(alice, NAME)
    story.do(alice, cancelSubscriptionCommand({ idle: only(story, subscriptionIdleState) }))
    expect(contractsOf(story)).toEqual(['AnsEntryContext', 'AnsEntry', 'TerminatedSubscription'])
    const { sv, by } = svOf(story)
    const terminated = only(story, terminatedSubscription)
    story.do(sv, terminateSubscriptionCommand({ ...by, terminated }))
    expect(contractsOf(story)).toEqual(['AnsEntry'])
  })
})

row('ACTIVE | time | LAPSED', () => {
  it('frees the name at expiresAt exactly', () => {
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

  it('frees the name of a cancelled subscription, whose entry a super-validator archives', () => {
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
})

row('LAPSED | expire entry, expire subscription | –', () => {
  it.each(['the owner', 'a super-validator'])(
    'lets %s archive the entry from expiresAt on',
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

  it('ends the subscription with its context strictly after the due date', () => {
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
})

row('TERMINATED | terminate context | –', () => {
  it('archives context and marker', () => {
    const { story, alice } = begin()
    const { request } = story.request(alice, NAME)
    story.do(alice, rejectRequestCommand({ request }))
    const { sv, by } = svOf(story)
    const terminated = only(story, terminatedSubscription)
    story.do(sv, terminateSubscriptionCommand({ ...by, terminated }))
    expect(contractsOf(story)).toEqual([])
  })
})

it('upstream timeline: day 60 pays, day 150 pays, day 271 pays and is refunded', () => {
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

it('a request for a taken name is refused', () => {
  const { story, alice } = begin()
  story.register(alice, NAME)
  const bob = story.actor('bob')
  expect(() => story.request(bob, NAME)).toThrow(/NAME_TAKEN/)
})

it('dso.ns and the entries of super-validators are no contracts', () => {
  const { story } = begin()
  expect(story.ledger.all(ansEntry)).toEqual([])
  for (const name of ['dso.ns', 'sv-1.sv.ns']) {
    expect(story.ledger.byKey(`name:${name}`)).toEqual([])
    expect(() => story.request(story.actor(`of-${name.length}`), name)).toThrow(
      /NAME_SUFFIX_MISSING/,
    )
  }
})

it('has tests for each row of the table of states in docs/upstream.md, and for no other', () => {
  const upstream = readFileSync(join(import.meta.dirname, '../../../docs/upstream.md'), 'utf8')
  const [, section = ''] = upstream.split('### N4.6 ')
  const [, , ...documented] = section.split('\n\n')[1]?.split('\n') ?? []
  const idOf = (line: string) => {
    const [, state, trigger, , next] = line.split(/ *\| */)
    return `${state} | ${trigger} | ${next}`
  }
  expect(rows).toEqual(documented.map(idOf))
})

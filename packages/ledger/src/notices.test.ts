import type { ContractId, EntryResult } from '@quorumscan/model'
import { describe, expect, it } from 'vitest'
import { activityRowsOf } from './activities.ts'
import { transfer } from './choices/coin-rules.ts'
import { ownerExpireLock, unlock } from './choices/locked-coin.ts'
import {
  collectRenewalCommand,
  createTransferInstructionCommand,
  exerciseCommand,
  expirePaymentCommand,
  expireSubscriptionCommand,
  expireTransferCommand,
  makePaymentCommand,
  transferCommand,
} from './commands.ts'
import { noticeRowsOf } from './notices.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { lockedCoin } from './templates/locked-coin.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { type Actor, amountOf, Scenario } from './testing/index.ts'

const DAY_MICROS = 86_400_000_000
const NAME = 'alice.unverified.ns'

function begin() {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.tap(alice, '250')
  const sv = story.svs[0] as Actor
  return { story, alice, by: { dsoRules: story.the(dsoRules), sv: sv.party }, sv }
}

/** The newest entry with its result. */
function newest({ network, ledger }: Scenario) {
  const { synchronizerId } = network.genesis
  const result = ledger.results().at(-1) as EntryResult
  return { ...ledger.head(), synchronizerId, result }
}

/** The notices of the newest entry, and for whom. */
const told = (story: Scenario) =>
  noticeRowsOf(newest(story)).map(({ activity, parties, step }) => {
    const { returned, details, transfer_instruction_cid: offer } = activity
    const who = parties.map((party) => party.split('::')[0])
    return { step, who, amount: returned?.coin_amount ?? null, details, offer }
  })

const back = (step: string, amount = '200.0000000000') => [
  { step, who: ['alice'], amount, details: null, offer: null },
]

function payRenewal(story: Scenario, alice: Actor): ContractId {
  const [idle] = story.ledger.all(subscriptionIdleState)
  const inputs = story.coins(alice)
  const command = makePaymentCommand({ idle: idle?.contractId as ContractId, inputs })
  return story.do(alice, command)['paymentCid'] as ContractId
}

describe('the owner of returned coin gets a notice', () => {
  it('when another party got the name, without an activity', () => {
    const { story, alice } = begin()
    const bob = story.actor('bob')
    story.register(bob, NAME.replace('alice', 'bob'))
    const { payment } = story.pay(alice, 'x.unverified.ns')
    story.tap(bob, '200')
    const winner = story.pay(bob, 'x.unverified.ns').payment
    story.resolve(winner)
    expect(told(story)).toEqual([])
    story.resolve(payment)
    expect(told(story)).toEqual(back('SubscriptionInitialPayment_Reject'))
    expect(activityRowsOf(newest(story))).toEqual([])
    const { offset } = story.ledger.head()
    expect(noticeRowsOf(newest(story))[0]?.activity).toEqual({
      event_id: `${String(offset).padStart(16, '0')}:1000`,
      date: expect.stringMatching(/Z$/),
      returned: { coin_owner: alice.party, coin_amount: '200.0000000000' },
      transfer_instruction_cid: null,
      details: null,
    })
  })

  it('when the lock of a first payment ended', () => {
    const { story, alice, by, sv } = begin()
    const { payment } = story.pay(alice, NAME)
    story.ledger.advance(DAY_MICROS)
    story.do(sv, expirePaymentCommand({ ...by, payment }))
    expect(told(story)).toEqual(back('SubscriptionInitialPayment_Expire'))
  })

  it('when the lock of a renewal ended, and when the subscription expired', () => {
    const { story, alice, by, sv } = begin()
    story.register(alice, NAME)
    story.ledger.advance(91 * DAY_MICROS)
    const payment = payRenewal(story, alice)
    story.ledger.advance(DAY_MICROS)
    story.do(sv, expirePaymentCommand({ ...by, payment }))
    expect(told(story)).toEqual(back('SubscriptionPayment_Expire'))
    const [idle] = story.ledger.all(subscriptionIdleState)
    story.do(sv, expireSubscriptionCommand({ ...by, idle: idle?.contractId as ContractId }))
    expect(told(story)).toEqual([
      {
        step: 'SubscriptionIdleState_ExpireSubscription',
        who: ['alice'],
        amount: null,
        details: `ANS entry: "${NAME}"`,
        offer: null,
      },
    ])
  })

  it('when a lock of its own ended, or its holders unlocked it', () => {
    const { story, alice } = begin()
    const lock = (holder: Actor) => {
      const expiresAt = story.ledger.head().recordTime + DAY_MICROS
      const output = { holders: [holder.party], expiresAt, optContext: null }
      const [locked] = story.do(
        alice,
        exerciseCommand(transfer, story.the(coinRules), {
          sender: alice.party,
          inputs: story.coins(alice),
          outputs: [{ receiver: alice.party, amount: amountOf('7'), lock: output }],
        }),
      )['createdCoins'] as ContractId[]
      return locked as ContractId
    }
    const first = lock(alice)
    story.ledger.advance(2 * DAY_MICROS)
    story.do(alice, exerciseCommand(ownerExpireLock, first, {}))
    expect(told(story)).toEqual(back('LockedCoin_OwnerExpireLock', '7.0000000000'))
    story.do(alice, exerciseCommand(unlock, lock(alice), {}))
    expect(told(story)).toEqual(back('LockedCoin_Unlock', '7.0000000000'))
    expect(story.ledger.all(lockedCoin)).toEqual([])
  })

  it('when an offer expired, for its sender and its receiver', () => {
    const { story, alice } = begin()
    const bob = story.actor('bob')
    const { transferInstructionCid } = story.do(
      alice,
      createTransferInstructionCommand({
        coinRules: story.the(coinRules),
        sender: alice.party,
        receiver: bob.party,
        amount: amountOf('7'),
        inputs: story.coins(alice),
        executeBefore: story.ledger.head().recordTime + DAY_MICROS,
        description: '',
        trackingId: '',
      }),
    )
    const instruction = String(transferInstructionCid)
    story.ledger.advance(2 * DAY_MICROS)
    story.do(alice, expireTransferCommand({ instruction, actor: alice.party }))
    const [notice, ...more] = told(story)
    expect(more).toEqual([])
    expect(notice).toMatchObject({ step: 'TransferInstruction_Expire', offer: instruction })
    expect(notice?.who).toEqual(expect.arrayContaining(['alice', 'bob']))
  })
})

it('rows of activities name the choice that made the transfer', () => {
  const { story, alice, by, sv } = begin()
  const steps = () => activityRowsOf(newest(story)).map(({ step }) => step)
  expect(steps()).toEqual(['CoinRules_DevNet_Tap'])
  const { payment } = story.pay(alice, NAME)
  expect(steps()).toEqual(['SubscriptionRequest_AcceptAndMakePayment'])
  story.resolve(payment)
  expect(steps()).toEqual(['AnsRules_CollectInitialEntryPayment'])
  expect(told(story)).toEqual([])
  story.tap(alice, '200')
  story.ledger.advance(61 * DAY_MICROS)
  const renewal = payRenewal(story, alice)
  expect(steps()).toEqual(['SubscriptionIdleState_MakePayment'])
  story.do(sv, collectRenewalCommand({ ...by, payment: renewal }))
  expect(steps()).toEqual(['AnsRules_CollectEntryRenewalPayment'])
  expect(told(story)).toEqual([])
  const inputs = story.coins(alice)
  const sender = alice.party
  story.do(alice, transferCommand({ coinRules: story.the(coinRules), sender, inputs, outputs: [] }))
  expect(steps()).toEqual(['CoinRules_Transfer'])
})

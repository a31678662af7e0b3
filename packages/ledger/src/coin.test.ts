import type { ContractId, PartyId } from '@quorumscan/model'
import { NAME_SUFFIX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { transfer } from './choices/coin-rules.ts'
import { ownerExpireLock } from './choices/locked-coin.ts'
import {
  acceptTransferCommand,
  advanceRoundsCommand,
  createTransferInstructionCommand,
  exerciseCommand,
  expireTransferCommand,
  makePaymentCommand,
  rejectTransferCommand,
  tapCommand,
  transferCommand,
  withdrawTransferCommand,
} from './commands.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { lockedCoin } from './templates/locked-coin.ts'
import { openMiningRound } from './templates/open-mining-round.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { type Actor, amountOf, outcomeOf, resultOf, Scenario } from './testing/index.ts'

const TICK_MICROS = 600_000_000

function begin(options?: ConstructorParameters<typeof Scenario>[0]) {
  const story = new Scenario(options)
  return { story, alice: story.actor('alice'), bob: story.actor('bob') }
}

function send(
  story: Scenario,
  sender: Actor,
  input: { inputs?: readonly ContractId[]; outputs: readonly [PartyId, string][] },
) {
  return transferCommand({
    coinRules: story.the(coinRules),
    sender: sender.party,
    inputs: input.inputs ?? story.coins(sender),
    outputs: input.outputs.map(([receiver, amount]) => ({ receiver, amount: amountOf(amount) })),
  })
}

const unlocked = (amount: string) => ({ unlocked: amountOf(amount), locked: 0n })

it('tap creates coin on a devnet, positive amounts only', () => {
  const { story, alice } = begin()
  story.tap(alice, '0.0000000001')
  expect(story.balance(alice)).toEqual(unlocked('0.0000000001'))
  for (const amount of [0n, -1n]) {
    const tap = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount })
    expect(outcomeOf(story.submit(alice, tap))).toBe('INVALID_ARGUMENT')
  }
})

it('a tap is limited so that every sum of coin fits a decimal', () => {
  const { story, alice } = begin()
  story.tap(alice, '1000000000000')
  for (const text of ['1000000000000.0000000001', '9999999999999999999999999999']) {
    const amount = amountOf(text)
    const tap = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount })
    expect(outcomeOf(story.submit(alice, tap))).toBe('LIMIT_EXCEEDED')
  }
})

it('tap is refused on networks other than devnets', () => {
  const { story, alice } = begin({ devnet: false })
  const tap = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount: 1n })
  expect(outcomeOf(story.submit(alice, tap))).toBe('DEVNET_ONLY')
})

it('a transfer to itself splits, merges and gives change', () => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  story.tap(alice, '5')
  const outputs: [PartyId, string][] = [
    [alice.party, '1'],
    [alice.party, '2.5'],
  ]
  const result = story.do(alice, send(story, alice, { outputs }))
  expect(result).toMatchObject({ inputAmount: '15.0000000000', changeAmount: '11.5000000000' })
  expect(story.coins(alice)).toHaveLength(3)
  story.do(alice, send(story, alice, { outputs: [] }))
  expect(story.coins(alice)).toHaveLength(1)
  expect(story.balance(alice)).toEqual(unlocked('15'))
})

it('an exact transfer leaves no change', () => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  const result = story.do(alice, send(story, alice, { outputs: [[alice.party, '10']] }))
  expect(result['senderChange']).toEqual([])
})

it('a direct transfer needs the authority of the receiver', () => {
  const story = new Scenario()
  const alice = story.actor('alice', 'shared')
  const bob = story.actor('bob', 'shared')
  story.tap(alice, '10')
  const move = send(story, alice, { outputs: [[bob.party, '4']] })
  expect(outcomeOf(story.submit(alice, move))).toBe('PERMISSION_DENIED')
  expect(outcomeOf(story.submit(alice, move, { actAs: [alice.party, bob.party] }))).toBe('accepted')
  expect(story.balance(alice)).toEqual(unlocked('6'))
  expect(story.balance(bob)).toEqual(unlocked('4'))
})

it.each([
  ['above the inputs', ['10.0000000001'], 'INSUFFICIENT_FUNDS'],
  ['of zero', ['0'], 'INVALID_ARGUMENT'],
  ['negative, balanced by another', ['-5', '15'], 'INVALID_ARGUMENT'],
])('an amount %s moves nothing', (_what, amounts, code) => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  const outputs = amounts.map((amount): [PartyId, string] => [alice.party, amount])
  expect(outcomeOf(story.submit(alice, send(story, alice, { outputs })))).toBe(code)
  expect(story.balance(alice)).toEqual(unlocked('10'))
})

it('one coin cannot be spent twice, within a transfer or a transaction', () => {
  const { story, alice } = begin()
  const input = story.tap(alice, '10')
  const twice = send(story, alice, { inputs: [input, input], outputs: [[alice.party, '20']] })
  expect(outcomeOf(story.submit(alice, twice))).toBe('CONTRACT_CONSUMED')
  const once = send(story, alice, { inputs: [input], outputs: [[alice.party, '10']] })
  expect(outcomeOf(story.submit(alice, [once, once]))).toBe('CONTRACT_CONSUMED')
  expect(story.balance(alice)).toEqual(unlocked('10'))
})

it('outputs whose sum lies beyond the range of Decimal are refused, not wrapped', () => {
  const { story, alice } = begin()
  const coin = story.tap(alice, '10')
  const most = [alice.party, '9999999999999999999999999999.9999999999'] as [string, string]
  const command = send(story, alice, { inputs: [coin], outputs: [most, most] })
  expect(outcomeOf(story.submit(alice, command))).toBe('INSUFFICIENT_FUNDS')
  expect(story.balance(alice)).toEqual(unlocked('10'))
})

it('a lock that the owner holds prevents spending of the coin until it ends', () => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  const expiresAt = story.ledger.head().recordTime + TICK_MICROS
  const lock = exerciseCommand(transfer, story.the(coinRules), {
    sender: alice.party,
    inputs: story.coins(alice),
    outputs: [
      {
        receiver: alice.party,
        amount: amountOf('10'),
        lock: { holders: [alice.party], expiresAt, optContext: null },
      },
    ],
  })
  story.do(alice, lock)
  const locked = story.ledger.all(lockedCoin)[0]?.contractId as ContractId
  const spend = send(story, alice, { inputs: [locked], outputs: [[alice.party, '1']] })
  expect(outcomeOf(story.submit(alice, spend))).toBe('WRONGLY_TYPED_CONTRACT')
  const release = exerciseCommand(ownerExpireLock, locked, {})
  expect(outcomeOf(story.submit(alice, release))).toBe('CHOICE_REFUSED')
  story.ledger.advance(TICK_MICROS)
  expect(outcomeOf(story.submit(alice, release))).toBe('accepted')
  expect(story.balance(alice)).toEqual(unlocked('10'))
})

it('a transfer has at most 100 outputs, and as many inputs', () => {
  const { story, alice } = begin()
  const one = story.tap(alice, '200')
  const transferOf = (inputs: readonly string[], outputCount: number) =>
    outcomeOf(
      story.submit(
        alice,
        exerciseCommand(transfer, story.the(coinRules), {
          sender: alice.party,
          inputs,
          outputs: Array.from({ length: outputCount }, () => ({
            receiver: alice.party,
            amount: amountOf('1'),
            lock: null,
          })),
        }),
      ),
    )
  expect(transferOf([one], 101)).toBe('LIMIT_EXCEEDED')
  expect(transferOf([one], 100)).toBe('accepted')
  const coins = story.coins(alice)
  expect(coins.length).toBeGreaterThan(100)
  expect(transferOf(coins.slice(0, 101), 0)).toBe('LIMIT_EXCEEDED')
  expect(transferOf(coins.slice(0, 100), 0)).toBe('accepted')
})

it('a lock has at most 16 holders', () => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  const expiresAt = story.ledger.head().recordTime + TICK_MICROS
  const holders = Array.from({ length: 17 }, (_, index) => story.actor(`h${index}`, 'alice').party)
  const lockFor = (count: number) =>
    story.submit(
      alice,
      exerciseCommand(transfer, story.the(coinRules), {
        sender: alice.party,
        inputs: story.coins(alice),
        outputs: [
          {
            receiver: alice.party,
            amount: amountOf('1'),
            lock: { holders: holders.slice(0, count), expiresAt, optContext: null },
          },
        ],
      }),
      { actAs: [alice.party, ...holders] },
    )
  expect(outcomeOf(lockFor(17))).toBe('LIMIT_EXCEEDED')
  expect(outcomeOf(lockFor(16))).toBe('accepted')
})

it('the owner cannot release the lock of a payment, even when it has ended', () => {
  const { story, alice } = begin()
  story.tap(alice, '200')
  story.pay(alice, `alice${NAME_SUFFIX}`)
  const locked = story.ledger.all(lockedCoin)[0]?.contractId as ContractId
  story.ledger.advance(4 * TICK_MICROS)
  const release = exerciseCommand(ownerExpireLock, locked, {})
  expect(outcomeOf(story.submit(alice, release))).toBe('CHOICE_REFUSED')
})

it('the payment is the USD fee at the newest coin price, rounded up', () => {
  const story = new Scenario({ coin: { priceUsd: '0.0030000000' } })
  const alice = story.actor('alice')
  story.tap(alice, '1000')
  story.pay(alice, `alice${NAME_SUFFIX}`)
  expect(story.balance(alice).locked).toBe(amountOf('333.3333333334'))
})

function offer(story: Scenario, from: Actor, to: Actor, amount = '4') {
  return createTransferInstructionCommand({
    coinRules: story.the(coinRules),
    sender: from.party,
    receiver: to.party,
    amount: amountOf(amount),
    inputs: story.coins(from),
    executeBefore: story.ledger.head().recordTime + TICK_MICROS,
    description: 'lunch',
    trackingId: 't-1',
  })
}

function offered() {
  const { story, alice, bob } = begin()
  story.tap(alice, '10')
  const { transferInstructionCid } = story.do(alice, offer(story, alice, bob))
  expect(story.balance(alice)).toEqual({ unlocked: amountOf('6'), locked: amountOf('4') })
  return { story, alice, bob, instruction: transferInstructionCid as ContractId }
}

it('an offer that is accepted moves the coin', () => {
  const { story, alice, bob, instruction } = offered()
  story.do(bob, acceptTransferCommand({ instruction }))
  expect(story.balance(alice)).toEqual(unlocked('6'))
  expect(story.balance(bob)).toEqual(unlocked('4'))
  expect(outcomeOf(story.submit(bob, acceptTransferCommand({ instruction })))).toBe(
    'CONTRACT_NOT_FOUND',
  )
})

it('an offer that is rejected, withdrawn or expired gives the coin back', () => {
  for (const end of ['reject', 'withdraw', 'expire by sender', 'expire by receiver']) {
    const { story, alice, bob, instruction } = offered()
    if (end === 'reject') story.do(bob, rejectTransferCommand({ instruction }))
    else if (end === 'withdraw') story.do(alice, withdrawTransferCommand({ instruction }))
    else {
      const actor = end === 'expire by sender' ? alice : bob
      const expire = expireTransferCommand({ instruction, actor: actor.party })
      expect(outcomeOf(story.submit(actor, expire)), end).toBe('CHOICE_REFUSED')
      story.ledger.advance(TICK_MICROS)
      expect(outcomeOf(story.submit(bob, acceptTransferCommand({ instruction })))).toBe(
        'CHOICE_REFUSED',
      )
      expect(outcomeOf(story.submit(actor, expire)), end).toBe('accepted')
    }
    expect(story.balance(alice), end).toEqual(unlocked('10'))
    expect(story.balance(bob), end).toEqual(unlocked('0'))
  }
})

it('only the receiver accepts and rejects, only the sender withdraws', () => {
  const { story, alice, bob, instruction } = offered()
  expect(outcomeOf(story.submit(alice, acceptTransferCommand({ instruction })))).toBe(
    'PERMISSION_DENIED',
  )
  expect(outcomeOf(story.submit(bob, withdrawTransferCommand({ instruction })))).toBe(
    'PERMISSION_DENIED',
  )
})

it('a party has at most 100 open offers, and only its own offers count', () => {
  const { story, alice, bob } = begin()
  story.tap(alice, '1000')
  story.tap(bob, '1000')
  for (let count = 0; count < 100; count++) story.do(alice, offer(story, alice, bob, '1'))
  expect(outcomeOf(story.submit(alice, offer(story, alice, bob, '1')))).toBe('LIMIT_EXCEEDED')
  expect(outcomeOf(story.submit(bob, offer(story, bob, alice, '1')))).toBe('accepted')
})

it('a party has at most 16 open requests and 16 payments in flight, renewals included', () => {
  const { story, alice } = begin()
  story.register(alice, `first${NAME_SUFFIX}`)
  story.tap(alice, '9000')
  for (let count = 0; count < 15; count++) story.pay(alice, `n${count}${NAME_SUFFIX}`)
  story.ledger.advance(60 * 24 * 6 * TICK_MICROS)
  const idle = story.ledger.all(subscriptionIdleState)[0]?.contractId as ContractId
  story.do(alice, makePaymentCommand({ idle, inputs: story.coins(alice) }))
  expect(() => story.pay(alice, `one-more${NAME_SUFFIX}`)).toThrow(/LIMIT_EXCEEDED/)
  // The request of the last attempt is open, so fifteen more are permitted.
  for (let count = 0; count < 15; count++) story.request(alice, `m${count}${NAME_SUFFIX}`)
  expect(() => story.request(alice, `too-many${NAME_SUFFIX}`)).toThrow(/OPEN_REQUEST_LIMIT/)
})

function advance(story: Scenario, index = 0) {
  const sv = story.svs[index] as Actor
  return story.submit(sv, advanceRoundsCommand({ dsoRules: story.the(dsoRules), sv: sv.party }))
}

const roundsOf = (story: Scenario) =>
  story.ledger
    .all(openMiningRound)
    .map(({ payload }) => payload.round.number)
    .sort((a, b) => a - b)

it('a round closes at its time, once; every super-validator gets the same reward', () => {
  const story = new Scenario()
  story.ledger.advance(TICK_MICROS - 2)
  expect(outcomeOf(advance(story))).toBe('CHOICE_REFUSED')
  expect(outcomeOf(advance(story))).toBe('accepted')
  expect(outcomeOf(advance(story, 1))).toBe('CHOICE_REFUSED')
  expect(roundsOf(story)).toEqual([1, 2, 3])
  for (const sv of story.svs) expect(story.balance(sv)).toEqual(unlocked('10'))
})

it('rounds stay on schedule if automation is a little late, and do not catch up after an outage', () => {
  const story = new Scenario()
  const start = story.network.genesis.recordTime
  story.ledger.advance(TICK_MICROS + 5_000_000)
  advance(story)
  const newest = () =>
    Math.max(...story.ledger.all(openMiningRound).map((r) => r.payload.targetClosesAt))
  expect(newest()).toBe(start + 4 * TICK_MICROS)
  story.ledger.advance(1000 * TICK_MICROS)
  for (let count = 0; count < 3; count++) expect(outcomeOf(advance(story))).toBe('accepted')
  expect(outcomeOf(advance(story))).toBe('CHOICE_REFUSED')
  expect(newest() - story.ledger.head().recordTime).toBeGreaterThan(2 * TICK_MICROS)
})

it('a network may pay no reward', () => {
  const story = new Scenario({ coin: { rewardPerRound: '0.0000000000' } })
  story.ledger.advance(TICK_MICROS)
  expect(resultOf(advance(story))['rewards']).toEqual([])
  expect(story.ledger.all(coin)).toEqual([])
})

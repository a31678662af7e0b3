import { type Contract, parseAmount } from '@quorumscan/model'
import { createSeededIntegers, DAY_MICROS } from '@quorumscan/testkit'
import { STATE_BYTES_PER_DAY } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import {
  allocatePartyCommand,
  confirmSetProtocolVersionCommand,
  makePaymentCommand,
  tapCommand,
  transferCommand,
} from './commands.ts'
import { growthIdOf } from './growth.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { type Actor, amountOf, outcomeOf, Scenario } from './testing/index.ts'

/** The least that a genesis may allow: some two hundred parties. */
const SMALL = 65_536
const SPENT = `a participant adds at most ${SMALL} bytes to the state in a day of record time`

const allocate = (story: Scenario, { keyPair }: Actor, hint: string) =>
  story.ledger.submit({ keyPair, commands: [allocatePartyCommand({ hint })] })

const tap = (story: Scenario, actor: Actor) =>
  story.submit(
    actor,
    tapCommand({ coinRules: story.the(coinRules), receiver: actor.party, amount: 1n }),
  )

/** Adds until the day has no bytes left; the refusal. */
function spend(story: Scenario, actor: Actor) {
  for (let count = 0; count <= SMALL / 256; count++) {
    const result = allocate(story, actor, `hint-${story.ledger.head().offset}`)
    if (result.kind !== 'accepted') return result
  }
  throw new Error('nothing was refused')
}

/** What is counted for a participant today. */
function bytesOf(story: Scenario, { keyPair }: Actor): number {
  const { recordTime } = story.ledger.head()
  const record = story.ledger.change(growthIdOf(keyPair.publicKey, recordTime))
  expect(record?.until).toBe(Math.ceil(recordTime / DAY_MICROS) * DAY_MICROS - 1)
  return Number(record?.submissionId)
}

/** A network that allows little, and a participant that has used it up. */
function spent(options: ConstructorParameters<typeof Scenario>[0] = {}) {
  const story = new Scenario({ stateBytesPerDay: SMALL, ...options })
  const alice = story.actor('alice')
  const coins = [story.tap(alice, '500'), story.tap(alice, '500')]
  return { story, alice, coins }
}

describe('the bytes that a participant adds in a day', () => {
  it('are refused beyond the limit of the genesis, whatever adds them', () => {
    const { story, alice, coins } = spent()
    expect(spend(story, alice)).toMatchObject({ code: 'LIMIT_EXCEEDED', message: SPENT })
    const counted = bytesOf(story, alice)
    expect([counted <= SMALL, counted > SMALL - 64 - 256]).toEqual([true, true])
    expect(outcomeOf(tap(story, alice))).toBe('LIMIT_EXCEEDED')
    const split = transferCommand({
      coinRules: story.the(coinRules),
      sender: alice.party,
      inputs: coins.slice(0, 1),
      outputs: Array.from({ length: 100 }, () => ({
        receiver: alice.party,
        amount: amountOf('1'),
      })),
    })
    expect(outcomeOf(story.submit(alice, split))).toBe('LIMIT_EXCEEDED')
    // A refused entry changes nothing.
    expect(story.coins(alice)).toHaveLength(2)
  })

  it('do not stop what makes the state smaller', () => {
    const { story, alice, coins } = spent()
    spend(story, alice)
    const merge = transferCommand({
      coinRules: story.the(coinRules),
      sender: alice.party,
      inputs: coins,
      outputs: [{ receiver: alice.party, amount: amountOf('1000') }],
    })
    expect(outcomeOf(story.submit(alice, merge))).toBe('accepted')
  })

  it('do not stop renewals', () => {
    const lifetime = 3_600_000_000
    const { story, alice } = spent({
      names: { entryLifetimeMicros: lifetime, renewalDurationMicros: lifetime },
    })
    story.register(alice, 'alice.unverified.ns')
    story.tap(alice, '500')
    spend(story, alice)
    const [idle] = story.ledger.all(subscriptionIdleState)
    const renewal = makePaymentCommand({
      idle: idle?.contractId ?? '',
      inputs: story.coins(alice),
    })
    expect(outcomeOf(story.submit(alice, renewal))).toBe('accepted')
  })

  it('are those of one key: other participants have their own, and super-validators work for all', () => {
    const { story, alice } = spent()
    spend(story, alice)
    expect(outcomeOf(tap(story, story.actor('bob')))).toBe('accepted')
    const [sv] = story.svs as [Actor]
    for (let count = 0; count < SMALL / 256; count++)
      expect(outcomeOf(allocate(story, sv, `of-sv-${count}`))).toBe('accepted')
  })

  it('are all of its parties together', () => {
    const { story, alice } = spent()
    const second = story.actor('second', 'alice')
    spend(story, alice)
    expect(outcomeOf(tap(story, second))).toBe('LIMIT_EXCEEDED')
  })

  it('are those of a day of record time, which begins at midnight UTC', () => {
    const { story, alice } = spent()
    spend(story, alice)
    const midnight = Math.ceil(story.ledger.head().recordTime / DAY_MICROS) * DAY_MICROS
    story.ledger.advance(midnight - 2 - story.ledger.head().recordTime)
    expect(outcomeOf(tap(story, alice))).toBe('LIMIT_EXCEEDED')
    expect(story.ledger.head().recordTime).toBe(midnight - 1)
    expect(outcomeOf(tap(story, alice))).toBe('accepted')
  })

  it('have a default where the genesis names none', () => {
    const story = new Scenario()
    const alice = story.actor('alice')
    for (let count = 0; count < SMALL / 256; count++) allocate(story, alice, `hint-${count}`)
    expect(outcomeOf(tap(story, alice))).toBe('accepted')
    expect(STATE_BYTES_PER_DAY).toBe(32 * 1024 * 1024)
  })

  it('are counted from version 4 of the protocol on', () => {
    const { story, alice } = spent({ protocolVersion: 3 })
    for (let count = 0; count < 300; count++)
      expect(outcomeOf(allocate(story, alice, `early-${count}`))).toBe('accepted')
    for (const sv of story.svs.slice(0, 3))
      story.do(
        sv,
        confirmSetProtocolVersionCommand({
          dsoRules: story.the(dsoRules),
          confirmer: sv.party,
          version: 4,
          notBefore: null,
        }),
      )
    // What was there before is not counted.
    expect(outcomeOf(allocate(story, alice, 'first'))).toBe('accepted')
    expect(spend(story, alice)).toMatchObject({ message: SPENT })
  })
})

it('equals a count over the state before and after each entry', () => {
  const story = new Scenario()
  const below = createSeededIntegers('growth')
  const actors = ['alice', 'bob', 'carol'].map((hint) => story.actor(hint))
  const sizeOf = (contracts: readonly Contract[]) =>
    contracts.reduce((sum, { payload }) => sum + 256 + JSON.stringify(payload).length, 0)
  const counted = new Map<string, number>()
  for (const { keyPair } of actors) counted.set(keyPair.publicKey, 64 + 256)
  for (let step = 0; step < 120; step++) {
    const actor = actors[below(actors.length)] as Actor
    const before = sizeOf(story.ledger.contracts())
    const coins = story.coins(actor)
    const inputs = coins.slice(0, 1 + below(3))
    const other = actors[below(actors.length)] as Actor
    const result =
      below(2) === 0 || inputs.length === 0
        ? tap(story, actor)
        : story.submit(
            actor,
            transferCommand({
              coinRules: story.the(coinRules),
              sender: actor.party,
              inputs,
              outputs: [{ receiver: other.party, amount: parseAmount('0.0000000001') ?? 0n }],
            }),
          )
    const grown = 64 + sizeOf(story.ledger.contracts()) - before
    const key = actor.keyPair.publicKey
    if (result.kind === 'accepted' && grown > 0) counted.set(key, (counted.get(key) ?? 0) + grown)
    expect(bytesOf(story, actor)).toBe(counted.get(key))
  }
})

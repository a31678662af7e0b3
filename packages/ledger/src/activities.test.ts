import { type EntryResult, formatAmount } from '@quorumscan/model'
import { describe, expect, it } from 'vitest'
import { type Activity, activityRowsOf } from './activities.ts'
import {
  acceptTransferCommand,
  advanceRoundsCommand,
  collectRenewalCommand,
  createTransferInstructionCommand,
  makePaymentCommand,
  rejectTransferCommand,
  transferCommand,
  withdrawTransferCommand,
} from './commands.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { subscriptionPayment } from './templates/subscription-payment.ts'
import { type Actor, amountOf, outcomeOf, resultOf, Scenario } from './testing/index.ts'

/** The rows of the newest entry. */
function newest(scenario: Scenario, result?: EntryResult): readonly Activity[] {
  const { offset, recordTime } = scenario.ledger.head()
  const last = result ?? scenario.ledger.results().at(-1)
  if (last === undefined) throw new Error('nothing was applied')
  const { synchronizerId } = scenario.network.genesis
  return activitiesOf({ offset, recordTime, synchronizerId, result: last })
}

const activitiesOf = (entry: Parameters<typeof activityRowsOf>[0]) =>
  activityRowsOf(entry).map(({ activity }) => activity)

const shape = (rows: readonly Activity[]) => rows.map((row) => row.activity_type)
/** Party and signed change, without zeros and fees. */
const changes = (row: Activity | undefined) =>
  row?.transfer?.balance_changes.map((change) => [
    change.party.split('::')[0],
    Number(change.change_to_initial_amount_as_of_round_zero),
  ])

function offer(scenario: Scenario, from: Actor, to: Actor): string {
  const { transferInstructionCid } = scenario.do(
    from,
    createTransferInstructionCommand({
      coinRules: scenario.the(coinRules),
      sender: from.party,
      receiver: to.party,
      amount: amountOf('12.5'),
      inputs: scenario.coins(from),
      executeBefore: scenario.ledger.head().recordTime + 60_000_000,
      description: 'for lunch',
      trackingId: 't-1',
    }),
  )
  return String(transferInstructionCid)
}

describe('activities (D-24, D-25)', () => {
  it('a tap is one row with every member, the unused ones null', () => {
    const scenario = new Scenario()
    const alice = scenario.actor('alice')
    scenario.tap(alice, '200')
    expect(newest(scenario)).toEqual([
      {
        activity_type: 'devnet_tap',
        event_id: '0000000000000002:0000',
        date: '2023-11-14T22:13:20.000002Z',
        domain_id: scenario.network.genesis.synchronizerId,
        offset: '2',
        round: 2,
        transfer: null,
        mint: null,
        tap: { coin_owner: alice.party, coin_amount: '200.0000000000' },
        abort_transfer_instruction: null,
      },
    ])
  })

  it('a name is a lock, then a transfer to the operator; the request, the confirmations and the burn are no activities', () => {
    const scenario = new Scenario()
    const alice = scenario.actor('alice')
    scenario.tap(alice, '250')
    const { payment } = scenario.pay(alice, 'alice.unverified.ns')
    const [lock] = newest(scenario)
    expect(lock?.transfer?.sender).toMatchObject({
      party: alice.party,
      input_coin_amount: '250.0000000000',
      sender_change_amount: '50.0000000000',
      sender_fee: '0.0000000000',
    })
    expect(lock?.transfer?.receivers).toEqual([
      { party: alice.party, amount: '200.0000000000', receiver_fee: '0.0000000000' },
    ])
    expect(changes(lock)).toEqual([])

    scenario.confirm(0, payment)
    scenario.confirm(1, payment)
    expect(newest(scenario)).toEqual([])
    scenario.confirm(2, payment)
    expect(shape(newest(scenario))).toEqual(['transfer'])
    // The operator was paid, with coin that is burned in the same transaction.
    expect(newest(scenario)[0]?.transfer?.receivers).toMatchObject([
      { party: scenario.network.genesis.dso, amount: '200.0000000000' },
    ])
    expect(changes(newest(scenario)[0])).toEqual([['alice', -200]])
    expect(newest(scenario)[0]?.transfer?.transfer_kind).toBeNull()
  })

  it('the rows of a party add up to its balance', () => {
    const scenario = new Scenario()
    const [alice, bob] = [scenario.actor('alice'), scenario.actor('bob')]
    const { dso, names, synchronizerId } = scenario.network.genesis
    scenario.tap(bob, '20')
    scenario.register(alice, 'alice.unverified.ns')
    scenario.tap(alice, '900')
    const instruction = offer(scenario, alice, bob)
    scenario.do(bob, acceptTransferCommand({ instruction }))
    scenario.ledger.advance(names.entryLifetimeMicros - names.renewalDurationMicros)
    const idle = scenario.ledger.all(subscriptionIdleState)[0]?.contractId as string
    scenario.do(alice, makePaymentCommand({ idle, inputs: scenario.coins(alice) }))
    const payment = scenario.ledger.all(subscriptionPayment)[0]?.contractId as string
    const [sv] = scenario.svs as [Actor]
    const by = { dsoRules: scenario.the(dsoRules), sv: sv.party }
    scenario.do(sv, collectRenewalCommand({ ...by, payment }))
    scenario.do(sv, advanceRoundsCommand(by))
    const sums = new Map<string, number>()
    const add = (party: string, amount: string) =>
      sums.set(party, (sums.get(party) ?? 0) + Number(amount))
    for (const [index, result] of scenario.ledger.results().entries())
      for (const row of activitiesOf({
        offset: index + 1,
        recordTime: 1,
        synchronizerId,
        result,
      })) {
        const made = row.tap ?? row.mint
        if (made !== null) add(made.coin_owner, made.coin_amount)
        for (const change of row.transfer?.balance_changes ?? [])
          add(change.party, change.change_to_initial_amount_as_of_round_zero)
      }
    expect(sums.has(dso)).toBe(false)
    for (const actor of [alice, bob, ...scenario.svs]) {
      const { unlocked, locked } = scenario.balance(actor)
      expect(sums.get(actor.party), actor.party).toBe(Number(formatAmount(unlocked + locked)))
    }
  })

  it('a refund gives no row: the coin never changed its owner', () => {
    const scenario = new Scenario()
    const [alice, bob] = [scenario.actor('alice'), scenario.actor('bob')]
    scenario.tap(alice, '200')
    scenario.tap(bob, '200')
    const first = scenario.pay(alice, 'x.unverified.ns').payment
    const second = scenario.pay(bob, 'x.unverified.ns').payment
    scenario.resolve(first)
    scenario.resolve(second)
    expect(scenario.balance(bob).unlocked).toBe(amountOf('200'))
    expect(newest(scenario)).toEqual([])
  })

  it('a transfer names its sender, its input and change, and its receivers', () => {
    const scenario = new Scenario()
    const [alice, bob] = [scenario.actor('alice', 'home'), scenario.actor('bob', 'home')]
    scenario.tap(alice, '10')
    scenario.tap(alice, '20')
    const result = scenario.submit(
      alice,
      transferCommand({
        coinRules: scenario.the(coinRules),
        sender: alice.party,
        inputs: scenario.coins(alice),
        outputs: [
          { receiver: bob.party, amount: amountOf('7') },
          { receiver: bob.party, amount: amountOf('5') },
        ],
      }),
      { actAs: [alice.party, bob.party] },
    )
    expect(outcomeOf(result)).toBe('accepted')
    const [row] = newest(scenario, result)
    expect(row?.transfer?.receivers).toEqual([
      { party: bob.party, amount: '12.0000000000', receiver_fee: '0.0000000000' },
    ])
    expect(row?.transfer?.sender).toMatchObject({
      input_coin_amount: '30.0000000000',
      sender_change_amount: '18.0000000000',
    })
    expect(changes(row)).toEqual([
      ['alice', -12],
      ['bob', 12],
    ])
  })

  it('an offer is shown when it is made and when it is accepted, with its id', () => {
    const scenario = new Scenario()
    const [alice, bob] = [scenario.actor('alice'), scenario.actor('bob')]
    scenario.tap(alice, '20')
    const instruction = offer(scenario, alice, bob)
    expect(newest(scenario)[0]?.transfer).toMatchObject({
      transfer_kind: 'create_transfer_instruction',
      description: 'for lunch',
      transferInstructionReceiver: bob.party,
      transferInstructionAmount: '12.5000000000',
      transferInstructionCid: instruction,
      balance_changes: [],
    })
    resultOf(scenario.submit(bob, acceptTransferCommand({ instruction })))
    const [accepted] = newest(scenario)
    expect(accepted?.transfer).toMatchObject({
      transfer_kind: 'transfer_instruction_accept',
      transferInstructionCid: instruction,
      description: null,
    })
    expect(changes(accepted)).toEqual([
      ['alice', -12.5],
      ['bob', 12.5],
    ])
  })

  it.each([
    ['reject', rejectTransferCommand, 1],
    ['withdraw', withdrawTransferCommand, 0],
  ] as const)('an offer that ends by %s says so', (abortKind, command, actorIndex) => {
    const scenario = new Scenario()
    const actors = [scenario.actor('alice'), scenario.actor('bob')] as const
    scenario.tap(actors[0], '20')
    const instruction = offer(scenario, ...actors)
    resultOf(scenario.submit(actors[actorIndex], command({ instruction })))
    expect(newest(scenario)).toMatchObject([
      {
        activity_type: 'abort_transfer_instruction',
        round: null,
        transfer: null,
        abort_transfer_instruction: {
          transfer_instruction_cid: instruction,
          abort_kind: abortKind,
        },
      },
    ])
  })

  it('a row belongs to the histories of all of its parties, even if it does not name them', () => {
    const scenario = new Scenario()
    const [alice, bob] = [scenario.actor('alice'), scenario.actor('bob')]
    const { dso, synchronizerId } = scenario.network.genesis
    const parties = () => {
      const { offset, recordTime } = scenario.ledger.head()
      const result = scenario.ledger.results().at(-1) as EntryResult
      return activityRowsOf({ offset, recordTime, synchronizerId, result }).map(
        (row) => row.parties,
      )
    }
    scenario.tap(alice, '250')
    expect(parties()).toEqual([[alice.party]])
    const first = offer(scenario, alice, bob)
    expect(parties()).toEqual([[alice.party, bob.party]])
    resultOf(scenario.submit(bob, rejectTransferCommand({ instruction: first })))
    expect(parties().map((each) => [...each].sort())).toEqual([
      [dso, alice.party, bob.party].sort(),
    ])
    scenario.resolve(scenario.pay(alice, 'alice.unverified.ns').payment)
    expect(parties()).toEqual([[alice.party, dso]])
  })

  it('closing a round mints equal parts, one row for each super-validator, ids rising', () => {
    const scenario = new Scenario()
    scenario.ledger.advance(3_600_000_000)
    const sv = scenario.svs[0] as Actor
    scenario.do(sv, advanceRoundsCommand({ dsoRules: scenario.the(dsoRules), sv: sv.party }))
    const rows = newest(scenario)
    expect(shape(rows)).toEqual(['mint', 'mint', 'mint', 'mint'])
    expect(rows.map((row) => row.mint)).toEqual(
      scenario.svs.map(({ party }) => ({ coin_owner: party, coin_amount: '10.0000000000' })),
    )
    expect(rows.map((row) => row.round)).toEqual([0, 0, 0, 0])
    expect(rows.map((row) => row.event_id)).toEqual([...rows.map((row) => row.event_id)].sort())
    expect(new Set(rows.map((row) => row.event_id)).size).toBe(4)
  })

  it('rejected and ignored entries are no activities', () => {
    const scenario = new Scenario()
    const result = scenario.ledger.append(new Uint8Array([1, 2, 3])).result
    expect(newest(scenario, result)).toEqual([])
  })
})

/** A log full of activities of all kinds, grown from a seed, and the slow and obvious way to read them. */

import {
  acceptTransferCommand,
  activityRowsOf,
  advanceRoundsCommand,
  coinRules,
  createTransferInstructionCommand,
  dsoRules,
  rejectTransferCommand,
  transferCommand,
  transferInstruction,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import { type Actor, amountOf, Scenario } from '@quorumscan/ledger/testing'
import type { Micros, Offset, PartyId } from '@quorumscan/model'
import { createSeededIntegers } from '@quorumscan/testkit'
import type { ActivityPage } from '../reads/activity-reads.ts'
import { HORIZON_MICROS } from '../storage/timeline.ts'

const SECOND_MICROS = 1_000_000
/** A round closes every five minutes, so that most logs have mints. */
const TICK_MICROS = 300 * SECOND_MICROS

/** Time passes in steps of seconds and minutes, so that rows end before, at and after the horizon. */
export function growActivityLog(
  seed: string,
  options: {
    readonly steps: number
    readonly retentionMicros: Micros
    readonly rules?: ConstructorParameters<typeof Scenario>[0]
  },
): { scenario: Scenario; parties: readonly PartyId[] } {
  const below = createSeededIntegers(seed)
  const scenario = new Scenario({
    coin: { tickMicros: TICK_MICROS },
    activityRetentionMicros: options.retentionMicros,
    ...options.rules,
  })
  const { ledger } = scenario
  const actors = ['alice', 'bob', 'carol'].map((hint) => scenario.actor(hint, 'home'))
  const anyone = () => actors[below(actors.length)] as Actor
  const parties = actors.map(({ party }) => party)
  for (let step = 0; step < options.steps; step++) {
    const [one, other] = [anyone(), anyone()]
    const rules = scenario.the(coinRules)
    const sender = one.party
    switch (below(8)) {
      case 0:
        ledger.advance(1 + below((below(10) === 0 ? 700 : 150) * SECOND_MICROS))
        break
      case 1:
        scenario.tap(one, '300')
        break
      case 2: {
        const receivers = [other, anyone()].slice(below(2))
        const inputs = scenario.coins(one)
        const outputs = receivers.map((to) => ({ receiver: to.party, amount: amountOf('1.5') }))
        const command = transferCommand({ coinRules: rules, sender, inputs, outputs })
        scenario.submit(one, command, { actAs: parties })
        break
      }
      case 3:
        scenario.submit(
          one,
          createTransferInstructionCommand({
            coinRules: rules,
            sender,
            receiver: other.party,
            amount: amountOf('2'),
            inputs: scenario.coins(one),
            executeBefore: ledger.head().recordTime + 1 + below(600 * SECOND_MICROS),
            description: 'Grüße "🎉"',
            trackingId: '',
          }),
        )
        break
      case 4:
      case 5: {
        const offers = ledger.all(transferInstruction)
        const open = offers[below(Math.max(offers.length, 1))]
        if (open !== undefined) {
          const by = [acceptTransferCommand, rejectTransferCommand, withdrawTransferCommand]
          const command = by[below(3)] as typeof acceptTransferCommand
          const instruction = open.contractId
          scenario.submit(one, command({ instruction }), { actAs: parties })
        }
        break
      }
      case 6:
        if (scenario.balance(one).unlocked >= amountOf('200')) {
          const { payment } = scenario.pay(one, `n${step}.unverified.ns`)
          for (const index of [0, 1, 2]) scenario.confirm(index, payment)
        }
        break
      default: {
        const sv = scenario.svs[below(4)] as Actor
        const command = advanceRoundsCommand({ dsoRules: scenario.the(dsoRules), sv: sv.party })
        scenario.submit(sv, command)
      }
    }
  }
  return { scenario, parties }
}

/** All pages of a log by looking through all of its rows. */
export class ActivityOracle {
  readonly #rows: readonly {
    readonly offset: Offset
    readonly recordTime: Micros
    readonly eventId: string
    readonly json: string
    readonly parties: readonly PartyId[]
  }[]
  readonly #times: readonly Micros[]
  readonly #retention: Micros

  constructor(scenario: Scenario) {
    const { ledger, network } = scenario
    const { synchronizerId, recordTime, activityRetentionMicros } = network.genesis
    this.#retention = activityRetentionMicros
    this.#times = [recordTime, ...ledger.entries().map((entry) => entry.recordTime)]
    this.#rows = ledger.entries().flatMap((entry, index) => {
      const result = ledger.results()[index]
      if (result === undefined) throw new Error('every entry has a result')
      return activityRowsOf({ ...entry, synchronizerId, result }).map(({ activity, parties }) => ({
        offset: entry.offset,
        recordTime: entry.recordTime,
        eventId: activity.event_id,
        json: JSON.stringify(activity),
        parties,
      }))
    })
  }

  timeOf(offset: Offset): Micros {
    return this.#times[offset] as Micros
  }

  /** The oldest offset that can be read at this head (D-10: ten minutes). */
  horizonOf(head: Offset): Offset {
    return this.#times.findIndex((time) => time >= this.timeOf(head) - HORIZON_MICROS)
  }

  /** Every row that there ever was, as JSON. */
  all(): readonly string[] {
    return this.#rows.map((row) => row.json)
  }

  page(page: ActivityPage & { readonly offset: Offset }): readonly string[] {
    const { after, order, party } = page
    const rows = this.#rows
      .filter((row) => row.offset <= page.offset)
      .filter((row) => row.recordTime + this.#retention > this.timeOf(page.offset))
      .filter((row) => party === undefined || row.parties.includes(party))
      .filter((row) => after === null || (order === 'asc') === row.eventId > after)
      .filter((row) => row.eventId !== after)
    return (order === 'asc' ? rows : rows.toReversed()).slice(0, page.limit).map((row) => row.json)
  }

  /** The rows that must stay stored while offsets from the horizon on can be read, and the newest expired row. */
  keptFrom(horizon: Offset): readonly string[] {
    const gone = this.#rows.filter((row) => !this.#isKept(row, horizon)).length
    return this.#rows.slice(Math.max(0, gone - 1)).map((row) => row.json)
  }

  /** The number of expired rows in `keptFrom`. */
  goneCount(horizon: Offset): number {
    return this.#rows.every((row) => this.#isKept(row, horizon)) ? 0 : 1
  }

  #isKept(row: { readonly recordTime: Micros }, horizon: Offset): boolean {
    return row.recordTime + this.#retention > this.timeOf(horizon)
  }
}

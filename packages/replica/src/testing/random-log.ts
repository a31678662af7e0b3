/** A log with everything that a ledger meets, grown from a seed: the same seed gives the same bytes. */

import { utf8 } from '@quorumscan/base'
import {
  acceptRequestCommand,
  advanceRoundsCommand,
  ansRules,
  coinRules,
  collectRenewalCommand,
  confirmResolveCommand,
  type DueItem,
  dsoRules,
  expireEntryCommand,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  makePaymentCommand,
  requestEntryCommand,
  subscriptionIdleState,
  subscriptionRequest,
  tapCommand,
  terminateSubscriptionCommand,
  transferCommand,
} from '@quorumscan/ledger'
import { type Actor, Scenario } from '@quorumscan/ledger/testing'
import type { Command } from '@quorumscan/model'
import { createSeededIntegers } from '@quorumscan/testkit'

const SECOND_MICROS = 1_000_000

/** Lifetimes of seconds, so that a log of a few minutes sees names expire, renew and come back. */
const QUICK_RULES = {
  names: {
    entryLifetimeMicros: 120 * SECOND_MICROS,
    renewalDurationMicros: 60 * SECOND_MICROS,
    requestLifetimeMicros: 60 * SECOND_MICROS,
  },
  coin: { tickMicros: 45 * SECOND_MICROS },
}

/** The scenario whose ledger holds the log, its results and the state at its end. */
export function growRandomLog(seed: string, stepCount: number): Scenario {
  const below = createSeededIntegers(seed)
  const belowExpensive = createSeededIntegers(`${seed}, dear`)
  const scenario = new Scenario(QUICK_RULES)
  const { ledger } = scenario
  const actors = ['alice', 'bob', 'I-carol', 'i-carol'].map((hint) => scenario.actor(hint))
  const pick = <T>(items: readonly T[]): T | undefined => items[below(Math.max(items.length, 1))]
  const nameOf = () => `${['a', 'a-b', 'ab', 'i', 'z_1'][below(5)]}.unverified.ns`

  for (let step = 0; step < stepCount; step++) {
    const actor = pick(actors) as Actor
    const sv = pick(scenario.svs) as Actor
    const isOwn = ({ payload }: { payload: { subscriptionData: { sender: string } } }) =>
      payload.subscriptionData.sender === actor.party
    // Refusals are part of the log.
    if (step % 15 === 7)
      submitDear(scenario, actors[belowExpensive(actors.length)] as Actor, belowExpensive)
    switch (below(12)) {
      case 0:
        ledger.advance(1 + below(12 * SECOND_MICROS))
        if (below(12) === 0) ledger.advance(700 * SECOND_MICROS)
        break
      case 1:
        ledger.append(utf8('\u0001 no entry'))
        break
      case 2: {
        const again = pick(ledger.entries().slice(-50))
        if (again !== undefined) ledger.append(again.bytes)
        break
      }
      case 3:
        scenario.tap(actor, '250')
        break
      case 4:
      case 5:
        scenario.submit(
          actor,
          requestEntryCommand({
            ansRules: scenario.the(ansRules),
            user: actor.party,
            name: nameOf(),
            url: below(8) === 0 ? 'https://example.org/İ' : 'https://example.org/',
            description: 'ſ ß ı "quoted" \u{1f600}',
          }),
        )
        break
      case 6:
      case 7: {
        const request = pick(ledger.all(subscriptionRequest).filter(isOwn))
        const inputs = scenario.coins(actor)
        if (request !== undefined)
          scenario.submit(actor, acceptRequestCommand({ request: request.contractId, inputs }))
        break
      }
      case 8: {
        const idle = pick(ledger.all(subscriptionIdleState).filter(isOwn))
        const inputs = scenario.coins(actor)
        if (idle !== undefined)
          scenario.submit(actor, makePaymentCommand({ idle: idle.contractId, inputs }))
        break
      }
      default:
        // Due work is mostly done, by one super-validator or by several.
        for (const item of someOf(ledger.due(), below))
          for (const each of [sv, ...scenario.svs.slice(below(4))]) {
            const command = commandOf(item, each, scenario)
            if (command !== undefined) scenario.submit(each, command)
          }
    }
  }
  return scenario
}

/** What the bounds of one entry are for, and a change of address, which is bounded in time. */
function submitDear(scenario: Scenario, actor: Actor, below: (bound: number) => number): void {
  const rules = scenario.the(coinRules)
  switch (below(4)) {
    case 0:
      scenario.publish(below(scenario.svs.length), { sequence: 1 + below(1000) })
      break
    case 1: {
      const amount = 10n ** 22n + BigInt(below(2))
      scenario.submit(actor, tapCommand({ coinRules: rules, receiver: actor.party, amount }))
      break
    }
    case 2: {
      const inputs = Array.from({ length: 99 + below(4) }, (_, index) => idOf(below(2) + 2 * index))
      const merge = { coinRules: rules, sender: actor.party, inputs, outputs: [] }
      const others = { ...merge, inputs: inputs.map((_, index) => idOf(10_000 + index)) }
      scenario.submit(actor, [merge, others].map(transferCommand))
      break
    }
    default:
      scenario.submit(
        actor,
        transferCommand({
          coinRules: rules,
          sender: actor.party,
          inputs: scenario.coins(actor).slice(0, 101),
          outputs: [],
        }),
      )
  }
}

const idOf = (index: number) => `00${String(index).padStart(64, '0')}`

function someOf<T>(items: readonly T[], below: (bound: number) => number): readonly T[] {
  const start = below(Math.max(items.length, 1))
  return items.slice(start, start + 3)
}

function commandOf(item: DueItem, sv: Actor, scenario: Scenario): Command | undefined {
  const by = { dsoRules: scenario.the(dsoRules), sv: sv.party }
  const id = item.contractId
  switch (item.job) {
    case 'resolve-initial-payment':
      return confirmResolveCommand({ dsoRules: by.dsoRules, confirmer: sv.party, payment: id })
    case 'expire-entry':
      return expireEntryCommand({ ...by, entry: id })
    case 'expire-payment':
      return expirePaymentCommand({ ...by, payment: id })
    case 'expire-request':
      return expireRequestCommand({ ...by, request: id })
    case 'expire-subscription':
      return expireSubscriptionCommand({ ...by, idle: id })
    case 'terminate-subscription':
      return terminateSubscriptionCommand({ ...by, terminated: id })
    case 'collect-renewal-payment':
      return collectRenewalCommand({ ...by, payment: id })
    case 'advance-rounds':
      return advanceRoundsCommand(by)
    default:
      return undefined
  }
}

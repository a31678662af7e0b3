/** Functions for choices of several templates. */
import { assert } from '@quorumscan/base'
import {
  type Amount,
  type ContractId,
  ceilDivide,
  type Micros,
  type PartyId,
} from '@quorumscan/model'
import { demand, refuse } from '../refusal.ts'
import type { Active, Template, Transaction } from '../template.ts'
import type { CoinPayload } from '../templates/coin.ts'
import { coinRules } from '../templates/coin-rules.ts'
import { confirmation } from '../templates/confirmation.ts'
import { type OpenMiningRoundPayload, openMiningRound } from '../templates/open-mining-round.ts'
import type { SubscriptionPayData } from '../templates/shared.ts'

export function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)]
}

/** The one contract of a singleton template. */
export function singleton<P>(tx: Transaction, template: Template<P>): Active<P> {
  const [found] = tx.byKey(template, `singleton:${template.entity}`)
  assert(found !== undefined, `the genesis creates ${template.entity}, and it is never without`)
  return found
}

/** The open round with the highest number: it sets the price (D-22). */
export function newestRound(tx: Transaction): Active<OpenMiningRoundPayload> {
  return tx
    .byKey(openMiningRound, 'rounds')
    .reduce((newest, open) =>
      open.payload.round.number > newest.payload.round.number ? open : newest,
    )
}

/** The open rounds, by ascending number. */
export function openRounds(tx: Transaction): readonly Active<OpenMiningRoundPayload>[] {
  return [...tx.byKey(openMiningRound, 'rounds')].sort(
    (a, b) => a.payload.round.number - b.payload.round.number,
  )
}

export function newHolding(tx: Transaction, owner: PartyId, amount: Amount): CoinPayload {
  return {
    dso: tx.genesis.dso,
    owner,
    amount: {
      initialAmount: amount,
      createdAt: newestRound(tx).payload.round,
      ratePerRound: { rate: 0n },
    },
  }
}

/** The price of a subscription in coin: USD at the price of the newest round, rounded up (D-4, D-22). */
export function coinForPayment(tx: Transaction, payData: SubscriptionPayData): Amount {
  const { amount, unit } = payData.paymentAmount
  return unit === 'CoinUnit' ? amount : ceilDivide(amount, newestRound(tx).payload.coinPrice)
}

/** When the lock of a payment made now ends. */
export function paymentLockEnd(tx: Transaction, ticks: number): Micros {
  return later(tx.now, ticks * singleton(tx, coinRules).payload.tickDuration)
}

/** @throws {Refusal} If the sum lies beyond the range of Time. */
export function later(instant: Micros, duration: Micros): Micros {
  const sum = instant + duration
  demand(Number.isSafeInteger(sum), 'INVALID_ARGUMENT', 'the time lies beyond the year 2255')
  return sum
}

/** @throws {Refusal} If the actor is not one of the parties. */
export function demandActor(actor: PartyId, allowed: readonly PartyId[]): void {
  if (!allowed.includes(actor)) refuse('PERMISSION_DENIED', `${actor} may not do this`)
}

/** Archives every confirmation of an archived payment (D-23). */
export function archiveConfirmations(tx: Transaction, payment: ContractId): void {
  for (const found of tx.byKey(confirmation, `confirmations:${payment}`))
    tx.archive(confirmation, found.contractId)
}

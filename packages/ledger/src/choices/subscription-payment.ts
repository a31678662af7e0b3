/** The end of a renewal payment: collected, rejected or expired. */
import { contractId, type LfValue, party, record } from '../lf.ts'
import { demand } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { subscriptionIdleState } from '../templates/subscription-idle-state.ts'
import {
  type SubscriptionPaymentPayload,
  subscriptionPayment,
} from '../templates/subscription-payment.ts'
import { demandActor, later } from './common.ts'
import { unlock } from './locked-coin.ts'
import { collectLockedCoin, signatoriesOf } from './subscription-initial-payment.ts'

const returned = record('SubscriptionPaymentReturned', {
  coinCid: contractId,
  subscriptionState: contractId,
})

/** The operator collects the coin; the next due date is one interval after this one. */
export const collectPayment = defineChoice(subscriptionPayment, 'SubscriptionPayment_Collect', {
  consuming: true,
  worksWhenFull: true,
  argument: record('SubscriptionPayment_Collect', {}),
  result: record('SubscriptionPayment_CollectResult', {
    subscriptionState: contractId,
    coinCid: contractId,
  }),
  controllers: ({ subscriptionData }) => signatoriesOf(subscriptionData),
  run(tx, { payload }) {
    const coinCid = collectLockedCoin(tx, payload)
    const next = later(payload.thisPaymentDueAt, payload.payData.paymentInterval)
    return { subscriptionState: becomeIdle(tx, payload, next), coinCid }
  },
})

export const rejectPayment = defineChoice(subscriptionPayment, 'SubscriptionPayment_Reject', {
  consuming: true,
  worksWhenFull: true,
  argument: record('SubscriptionPayment_Reject', {}),
  result: returned,
  controllers: ({ subscriptionData }) => [subscriptionData.receiver],
  run: (tx, { payload }) => refund(tx, payload),
})

/** Any signatory returns the coin once the lock has expired. The due date stays. */
export const expirePayment = defineChoice(subscriptionPayment, 'SubscriptionPayment_Expire', {
  consuming: true,
  worksWhenFull: true,
  argument: record('SubscriptionPayment_Expire', { actor: party }),
  result: returned,
  controllers: (_payment, { actor }) => [actor],
  run(tx, { payload }, { actor }) {
    demandActor(actor, signatoriesOf(payload.subscriptionData))
    demand(payload.lockExpiresAt <= tx.now, 'CHOICE_REFUSED', 'the lock has not ended')
    return refund(tx, payload)
  },
})

function refund(tx: Transaction, payload: SubscriptionPaymentPayload): LfValue<typeof returned> {
  const { coinCid } = tx.exercise(unlock, payload.lockedCoin, {})
  return { coinCid, subscriptionState: becomeIdle(tx, payload, payload.thisPaymentDueAt) }
}

function becomeIdle(
  tx: Transaction,
  payload: SubscriptionPaymentPayload,
  nextPaymentDueAt: number,
): string {
  const { subscription, subscriptionData, payData, reference } = payload
  return tx.create(subscriptionIdleState, {
    subscription,
    subscriptionData,
    payData,
    nextPaymentDueAt,
    reference,
  })
}

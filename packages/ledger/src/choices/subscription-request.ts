/** A user accepts (pays) or rejects a request. */
import type { ContractId } from '@quorumscan/model'
import { contractId, list, record } from '../lf.ts'
import { PAYMENT_LOCK_TICKS, PAYMENTS_IN_FLIGHT_MAX } from '../limits.ts'
import { demand } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { coinRules } from '../templates/coin-rules.ts'
import type { SubscriptionData, SubscriptionPayData } from '../templates/shared.ts'
import { subscriptionInitialPayment } from '../templates/subscription-initial-payment.ts'
import { subscriptionRequest } from '../templates/subscription-request.ts'
import { terminatedSubscription } from '../templates/terminated-subscription.ts'
import { demandFewInputs, transfer } from './coin-rules.ts'
import { coinForPayment, newestRound, paymentLockEnd, singleton, unique } from './common.ts'

/** Locks the coin for one payment. Used for the first one and for renewals. */
export function lockPayment(
  tx: Transaction,
  subscription: { data: SubscriptionData; payData: SubscriptionPayData },
  inputs: readonly ContractId[],
) {
  const { data, payData } = subscription
  const inFlight =
    tx.countByKey(`party:SubscriptionInitialPayment:${data.sender}`) +
    tx.countByKey(`party:SubscriptionPayment:${data.sender}`)
  demand(
    inFlight < PAYMENTS_IN_FLIGHT_MAX,
    'LIMIT_EXCEEDED',
    `a party has at most ${PAYMENTS_IN_FLIGHT_MAX} payments in flight`,
  )
  const lockExpiresAt = paymentLockEnd(tx, PAYMENT_LOCK_TICKS)
  const moved = tx.exercise(transfer, singleton(tx, coinRules).contractId, {
    sender: data.sender,
    inputs,
    outputs: [
      {
        receiver: data.sender,
        amount: coinForPayment(tx, payData),
        lock: {
          holders: unique([data.provider, data.receiver]),
          expiresAt: lockExpiresAt,
          optContext: `coin-subscription: ${data.description}`,
        },
      },
    ],
  })
  return {
    lockedCoin: moved.createdCoins[0] as ContractId,
    senderChange: moved.senderChange,
    lockExpiresAt,
    round: newestRound(tx).payload.round,
  }
}

export const acceptAndMakePayment = defineChoice(
  subscriptionRequest,
  'SubscriptionRequest_AcceptAndMakePayment',
  {
    consuming: true,
    argument: record('SubscriptionRequest_AcceptAndMakePayment', { inputs: list(contractId) }),
    result: record('SubscriptionRequest_AcceptAndMakePaymentResult', {
      paymentCid: contractId,
      senderChange: list(contractId),
    }),
    checkArgument: ({ inputs }) => demandFewInputs(inputs),
    controllers: ({ subscriptionData }) => [subscriptionData.sender],
    run(tx, self, { inputs }) {
      const { subscriptionData, payData, expiresAt } = self.payload
      demand(tx.now < expiresAt, 'CHOICE_REFUSED', 'the request has expired')
      const locked = lockPayment(tx, { data: subscriptionData, payData }, inputs)
      return {
        paymentCid: tx.create(subscriptionInitialPayment, {
          subscriptionData,
          payData,
          lockedCoin: locked.lockedCoin,
          lockExpiresAt: locked.lockExpiresAt,
          round: locked.round,
          reference: self.contractId,
        }),
        senderChange: locked.senderChange,
      }
    },
  },
)

const terminated = record('SubscriptionTerminated', { terminatedSubscription: contractId })

export const rejectRequest = defineChoice(subscriptionRequest, 'SubscriptionRequest_Reject', {
  consuming: true,
  worksWhenFull: true,
  argument: record('SubscriptionRequest_Reject', {}),
  result: terminated,
  controllers: ({ subscriptionData }) => [subscriptionData.sender],
  run: (tx, self) => ({
    terminatedSubscription: tx.create(terminatedSubscription, {
      subscriptionData: self.payload.subscriptionData,
      reference: self.contractId,
    }),
  }),
})

export const withdrawRequest = defineChoice(subscriptionRequest, 'SubscriptionRequest_Withdraw', {
  consuming: true,
  worksWhenFull: true,
  argument: record('SubscriptionRequest_Withdraw', {}),
  result: terminated,
  controllers: ({ subscriptionData }) => [subscriptionData.receiver],
  run: (tx, self) => ({
    terminatedSubscription: tx.create(terminatedSubscription, {
      subscriptionData: self.payload.subscriptionData,
      reference: self.contractId,
    }),
  }),
})

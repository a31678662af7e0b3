/** The end of a first payment: collected, rejected or expired. */
import type { ContractId } from '@quorumscan/model'
import { contractId, party, record } from '../lf.ts'
import { demand } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { coin } from '../templates/coin.ts'
import { coinRules } from '../templates/coin-rules.ts'
import type { SubscriptionData } from '../templates/shared.ts'
import { subscription } from '../templates/subscription.ts'
import { subscriptionIdleState } from '../templates/subscription-idle-state.ts'
import {
  type SubscriptionInitialPaymentPayload,
  subscriptionInitialPayment,
} from '../templates/subscription-initial-payment.ts'
import { terminatedSubscription } from '../templates/terminated-subscription.ts'
import { transfer } from './coin-rules.ts'
import { archiveConfirmations, demandActor, later, singleton, unique } from './common.ts'
import { unlock } from './locked-coin.ts'

/** The signatories of a subscription. */
export function signatoriesOf(data: SubscriptionData): readonly string[] {
  return unique([data.sender, data.receiver, data.provider])
}

/** Unlocks the coin of a payment and moves all of it to the receiver. */
export function collectLockedCoin(
  tx: Transaction,
  payment: { subscriptionData: SubscriptionData; lockedCoin: ContractId; lockExpiresAt: number },
): ContractId {
  demand(tx.now < payment.lockExpiresAt, 'CHOICE_REFUSED', 'the lock of the payment has ended')
  const { sender, receiver } = payment.subscriptionData
  const { coinCid } = tx.exercise(unlock, payment.lockedCoin, {})
  const amount = tx.fetch(coin, coinCid).payload.amount.initialAmount
  const moved = tx.exercise(transfer, singleton(tx, coinRules).contractId, {
    sender,
    inputs: [coinCid],
    outputs: [{ receiver, amount, lock: null }],
  })
  return moved.createdCoins[0] as ContractId
}

const terminated = record('SubscriptionTerminated', {
  coinCid: contractId,
  terminatedSubscription: contractId,
})

/** The operator collects the coin; the subscription begins. */
export const collectInitialPayment = defineChoice(
  subscriptionInitialPayment,
  'SubscriptionInitialPayment_Collect',
  {
    consuming: true,
    argument: record('SubscriptionInitialPayment_Collect', {}),
    result: record('SubscriptionInitialPayment_CollectResult', {
      subscription: contractId,
      subscriptionState: contractId,
      coinCid: contractId,
    }),
    controllers: ({ subscriptionData }) => signatoriesOf(subscriptionData),
    run(tx, self) {
      const { subscriptionData, payData, reference } = self.payload
      const coinCid = collectLockedCoin(tx, self.payload)
      const subscriptionCid = tx.create(subscription, { subscriptionData, reference })
      const subscriptionState = tx.create(subscriptionIdleState, {
        subscription: subscriptionCid,
        subscriptionData,
        payData,
        nextPaymentDueAt: later(tx.now, payData.paymentInterval),
        reference,
      })
      return { subscription: subscriptionCid, subscriptionState, coinCid }
    },
  },
)

/** The operator refunds all of the coin. */
export const rejectInitialPayment = defineChoice(
  subscriptionInitialPayment,
  'SubscriptionInitialPayment_Reject',
  {
    consuming: true,
    worksWhenFull: true,
    argument: record('SubscriptionInitialPayment_Reject', {}),
    result: terminated,
    controllers: ({ subscriptionData }) => [subscriptionData.receiver],
    run: (tx, self) => refund(tx, self.contractId, self.payload),
  },
)

/** Any signatory returns the coin once the lock has expired. */
export const expireInitialPayment = defineChoice(
  subscriptionInitialPayment,
  'SubscriptionInitialPayment_Expire',
  {
    consuming: true,
    worksWhenFull: true,
    argument: record('SubscriptionInitialPayment_Expire', { actor: party }),
    result: terminated,
    controllers: (_payment, { actor }) => [actor],
    run(tx, self, { actor }) {
      demandActor(actor, signatoriesOf(self.payload.subscriptionData))
      demand(self.payload.lockExpiresAt <= tx.now, 'CHOICE_REFUSED', 'the lock has not ended')
      return refund(tx, self.contractId, self.payload)
    },
  },
)

function refund(
  tx: Transaction,
  payment: ContractId,
  { lockedCoin, subscriptionData, reference }: SubscriptionInitialPaymentPayload,
) {
  const { coinCid } = tx.exercise(unlock, lockedCoin, {})
  archiveConfirmations(tx, payment)
  return {
    coinCid,
    terminatedSubscription: tx.create(terminatedSubscription, { subscriptionData, reference }),
  }
}

/** The choices between payments: renew, cancel, expire. */
import { contractId, list, party, record } from '../lf.ts'
import { demand } from '../refusal.ts'
import { defineChoice } from '../template.ts'
import { subscription } from '../templates/subscription.ts'
import { subscriptionIdleState } from '../templates/subscription-idle-state.ts'
import { subscriptionPayment } from '../templates/subscription-payment.ts'
import { terminatedSubscription } from '../templates/terminated-subscription.ts'
import { demandFewInputs } from './coin-rules.ts'
import { demandActor } from './common.ts'
import { signatoriesOf } from './subscription-initial-payment.ts'
import { lockPayment } from './subscription-request.ts'

/** Pays a renewal. The window opens `paymentDuration` before the due date and has no end. */
export const makePayment = defineChoice(
  subscriptionIdleState,
  'SubscriptionIdleState_MakePayment',
  {
    consuming: true,
    worksWhenFull: true,
    argument: record('SubscriptionIdleState_MakePayment', { inputs: list(contractId) }),
    result: record('SubscriptionIdleState_MakePaymentResult', {
      paymentCid: contractId,
      senderChange: list(contractId),
    }),
    checkArgument: ({ inputs }) => demandFewInputs(inputs),
    controllers: ({ subscriptionData }) => [subscriptionData.sender],
    run(tx, self, { inputs }) {
      const { subscriptionData, payData, nextPaymentDueAt, reference } = self.payload
      demand(
        tx.now + payData.paymentDuration >= nextPaymentDueAt,
        'CHOICE_REFUSED',
        'the renewal window has not opened',
      )
      const locked = lockPayment(tx, { data: subscriptionData, payData }, inputs)
      return {
        paymentCid: tx.create(subscriptionPayment, {
          subscription: self.payload.subscription,
          subscriptionData,
          payData,
          thisPaymentDueAt: nextPaymentDueAt,
          lockedCoin: locked.lockedCoin,
          lockExpiresAt: locked.lockExpiresAt,
          round: locked.round,
          reference,
        }),
        senderChange: locked.senderChange,
      }
    },
  },
)

const ended = record('SubscriptionEnded', { terminatedSubscription: contractId })

export const cancelSubscription = defineChoice(
  subscriptionIdleState,
  'SubscriptionIdleState_CancelSubscription',
  {
    consuming: true,
    worksWhenFull: true,
    argument: record('SubscriptionIdleState_CancelSubscription', {}),
    result: ended,
    controllers: ({ subscriptionData }) => [subscriptionData.sender],
    run: (tx, { payload }) => tx.exercise(archiveSubscription, payload.subscription, {}),
  },
)

/** Any signatory ends a subscription whose due date is strictly in the past. */
export const expireSubscription = defineChoice(
  subscriptionIdleState,
  'SubscriptionIdleState_ExpireSubscription',
  {
    consuming: true,
    worksWhenFull: true,
    argument: record('SubscriptionIdleState_ExpireSubscription', { actor: party }),
    result: ended,
    controllers: (_idle, { actor }) => [actor],
    run(tx, { payload }, { actor }) {
      demandActor(actor, signatoriesOf(payload.subscriptionData))
      demand(payload.nextPaymentDueAt < tx.now, 'CHOICE_REFUSED', 'the payment is not overdue')
      return tx.exercise(archiveSubscription, payload.subscription, {})
    },
  },
)

/** Internal step of cancelling and expiring, with the authority of all signatories. */
export const archiveSubscription = defineChoice(subscription, 'Subscription_Archive', {
  consuming: true,
  argument: record('Subscription_Archive', {}),
  result: ended,
  controllers: ({ subscriptionData }) => signatoriesOf(subscriptionData),
  run: (tx, { payload }) => ({
    terminatedSubscription: tx.create(terminatedSubscription, payload),
  }),
})

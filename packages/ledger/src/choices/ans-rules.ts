/** Names: requested, paid, renewed, refused. Paid coin is burned. */

import type { PartyId } from '@quorumscan/model'
import { findEntryFieldViolation } from '@quorumscan/verifier'
import { contractId, party, record, text } from '../lf.ts'
import { demand, refuse } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { type AnsEntryPayload, ansEntry } from '../templates/ans-entry.ts'
import { type AnsEntryContextPayload, ansEntryContext } from '../templates/ans-entry-context.ts'
import { ansRules } from '../templates/ans-rules.ts'
import { coin } from '../templates/coin.ts'
import { ansRulesConfig, type SubscriptionData } from '../templates/shared.ts'
import { subscriptionIdleState } from '../templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from '../templates/subscription-initial-payment.ts'
import { subscriptionPayment } from '../templates/subscription-payment.ts'
import { subscriptionRequest } from '../templates/subscription-request.ts'
import { renewEntry } from './ans-entry.ts'
import { later } from './common.ts'
import { collectInitialPayment, rejectInitialPayment } from './subscription-initial-payment.ts'
import { collectPayment } from './subscription-payment.ts'

/** The entry that makes the name taken now (D-9), or undefined. */
export function findLiveEntry(tx: Transaction, name: string): AnsEntryPayload | undefined {
  return tx
    .byKey(ansEntry, `name:${name}`)
    .map(({ payload }) => payload)
    .find(({ expiresAt }) => expiresAt > tx.now)
}

/** Requests a name: nothing is reserved until the payment is collected (D-17). */
export const requestEntry = defineChoice(ansRules, 'AnsRules_RequestEntry', {
  consuming: false,
  argument: record('AnsRules_RequestEntry', {
    name: text,
    url: text,
    description: text,
    user: party,
  }),
  result: record('AnsRules_RequestEntryResult', { entryCid: contractId, requestCid: contractId }),
  controllers: (_rules, { user }) => [user],
  run(tx, { payload: rules }, { name, url, description, user }) {
    const violation = findEntryFieldViolation({ name, url, description })
    if (violation !== undefined) refuse(violation.code, violation.rule)
    demand(findLiveEntry(tx, name) === undefined, 'NAME_TAKEN', `a live entry has the name ${name}`)
    const { openRequestsMax } = tx.genesis.names
    demand(
      tx.countByKey(`party:SubscriptionRequest:${user}`) < openRequestsMax,
      'OPEN_REQUEST_LIMIT',
      `a party has at most ${openRequestsMax} open requests`,
    )
    const { dso, config } = rules
    const requestCid = tx.create(subscriptionRequest, {
      subscriptionData: {
        sender: user,
        receiver: dso,
        provider: dso,
        dso,
        description: `${config.descriptionPrefix}"${name}"`,
      },
      payData: {
        paymentAmount: { amount: config.entryFee, unit: 'USDUnit' },
        paymentInterval: config.entryLifetime,
        paymentDuration: config.renewalDuration,
      },
      expiresAt: later(tx.now, tx.genesis.names.requestLifetimeMicros),
    })
    const entryCid = tx.create(ansEntryContext, {
      dso,
      user,
      name,
      url,
      description,
      reference: requestCid,
    })
    return { entryCid, requestCid }
  },
})

const entryContext = { user: party, context: contractId }

function demandSubscriptionOf(
  context: AnsEntryContextPayload,
  payment: { reference: string; subscriptionData: SubscriptionData },
  user: PartyId,
): void {
  const { sender, receiver, provider } = payment.subscriptionData
  demand(
    context.user === user &&
      payment.reference === context.reference &&
      sender === context.user &&
      receiver === context.dso &&
      provider === context.dso,
    'CHOICE_REFUSED',
    'the payment belongs to another entry',
  )
}

export const collectInitialEntryPayment = defineChoice(
  ansRules,
  'AnsRules_CollectInitialEntryPayment',
  {
    consuming: false,
    argument: record('AnsRules_CollectInitialEntryPayment', {
      ...entryContext,
      payment: contractId,
    }),
    result: record('AnsRules_CollectInitialEntryPaymentResult', {
      entryCid: contractId,
      subscription: contractId,
      subscriptionState: contractId,
    }),
    controllers: (rules, { user }) => [rules.dso, user],
    run(tx, _self, argument) {
      const context = tx.fetch(ansEntryContext, argument.context).payload
      const payment = tx.fetch(subscriptionInitialPayment, argument.payment).payload
      demandSubscriptionOf(context, payment, argument.user)
      const { user, dso, name, url, description } = context
      demand(findEntryFieldViolation(context) === undefined, 'INVALID_NAME', 'invalid entry fields')
      demand(findLiveEntry(tx, name) === undefined, 'NAME_TAKEN', 'a live entry has this name')
      const collected = tx.exercise(collectInitialPayment, argument.payment, {})
      tx.archive(coin, collected.coinCid)
      const { nextPaymentDueAt } = tx.fetch(
        subscriptionIdleState,
        collected.subscriptionState,
      ).payload
      const entryCid = tx.create(ansEntry, {
        user,
        dso,
        name,
        url,
        description,
        expiresAt: nextPaymentDueAt,
      })
      return {
        entryCid,
        subscription: collected.subscription,
        subscriptionState: collected.subscriptionState,
      }
    },
  },
)

export const rejectEntryInitialPayment = defineChoice(
  ansRules,
  'AnsRules_RejectEntryInitialPayment',
  {
    consuming: false,
    argument: record('AnsRules_RejectEntryInitialPayment', {
      ...entryContext,
      payment: contractId,
    }),
    result: record('AnsRules_RejectEntryInitialPaymentResult', {
      coinCid: contractId,
      terminatedSubscription: contractId,
    }),
    controllers: (rules, { user }) => [rules.dso, user],
    run(tx, _self, argument) {
      const context = tx.fetch(ansEntryContext, argument.context).payload
      const payment = tx.fetch(subscriptionInitialPayment, argument.payment).payload
      demandSubscriptionOf(context, payment, argument.user)
      return tx.exercise(rejectInitialPayment, argument.payment, {})
    },
  },
)

export const collectEntryRenewalPayment = defineChoice(
  ansRules,
  'AnsRules_CollectEntryRenewalPayment',
  {
    consuming: false,
    argument: record('AnsRules_CollectEntryRenewalPayment', {
      ...entryContext,
      payment: contractId,
      entry: contractId,
    }),
    result: record('AnsRules_CollectEntryRenewalPaymentResult', {
      entryCid: contractId,
      subscriptionState: contractId,
    }),
    controllers: (rules, { user }) => [rules.dso, user],
    run(tx, _self, argument) {
      const context = tx.fetch(ansEntryContext, argument.context).payload
      const payment = tx.fetch(subscriptionPayment, argument.payment).payload
      const entry = tx.fetch(ansEntry, argument.entry).payload
      demandSubscriptionOf(context, payment, argument.user)
      demand(
        entry.user === context.user && entry.name === context.name,
        'CHOICE_REFUSED',
        'the entry belongs to another subscription',
      )
      demand(tx.now < entry.expiresAt, 'CHOICE_REFUSED', 'the entry has expired')
      demand(
        payment.thisPaymentDueAt === entry.expiresAt,
        'CHOICE_REFUSED',
        'the payment is for another period',
      )
      const collected = tx.exercise(collectPayment, argument.payment, {})
      tx.archive(coin, collected.coinCid)
      const { entryCid } = tx.exercise(renewEntry, argument.entry, {
        extension: payment.payData.paymentInterval,
      })
      return { entryCid, subscriptionState: collected.subscriptionState }
    },
  },
)

/** Replaces the rules; new requests follow the new ones. Reached by a quorum only (D-23). */
export const setAnsConfig = defineChoice(ansRules, 'AnsRules_SetConfig', {
  consuming: true,
  argument: record('AnsRules_SetConfig', { config: ansRulesConfig }),
  result: record('AnsRules_SetConfigResult', { ansRulesCid: contractId }),
  controllers: ({ dso }) => [dso],
  run: (tx, { payload: rules }, { config }) => ({
    ansRulesCid: tx.create(ansRules, { ...rules, config }),
  }),
})

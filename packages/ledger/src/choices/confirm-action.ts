/** Actions that need a quorum: each super-validator confirms, the q-th confirmation takes effect (D-23). */

import type { ContractId } from '@quorumscan/model'
import { canonicalJson, findEntryFieldViolation, memberSetOf } from '@quorumscan/verifier'
import { contractId, type LfValue, optional, party, record, text, variant } from '../lf.ts'
import { demand } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { ansRules, isValidConfig } from '../templates/ans-rules.ts'
import {
  type ConfirmedAction,
  confirmation,
  confirmedAction,
  subjectOf,
} from '../templates/confirmation.ts'
import { dsoRules, versionRefusal, versionsAfter } from '../templates/dso-rules.ts'
import { subscriptionInitialPayment } from '../templates/subscription-initial-payment.ts'
import { contextCollectInitial, contextRejectInitial } from './ans-entry-context.ts'
import { findLiveEntry, setAnsConfig } from './ans-rules.ts'
import { contextOf, demandSv } from './dso-rules.ts'

const confirmedOutcome = variant('ConfirmedOutcome', {
  Collected: record('Collected', { entryCid: contractId }),
  Rejected: record('Rejected', { reason: text, coinCid: contractId }),
  ConfigSet: record('ConfigSet', { ansRulesCid: contractId }),
  ProtocolVersionSet: record('ProtocolVersionSet', { dsoRulesCid: contractId }),
})
export type ConfirmedOutcome = LfValue<typeof confirmedOutcome>

/**
 * Confirms an action. A repeat changes nothing. The confirmation that completes the quorum is not
 * stored: it carries out the action and archives the others.
 */
export const confirmAction = defineChoice(dsoRules, 'DsoRules_ConfirmAction', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_ConfirmAction', { confirmer: party, action: confirmedAction }),
  result: record('DsoRules_ConfirmActionResult', {
    /** None if this one completed the quorum. */
    confirmation: optional(contractId),
    outcome: optional(confirmedOutcome),
  }),
  controllers: (_rules, { confirmer }) => [confirmer],
  run(tx, { payload: rules }, { confirmer, action }) {
    demandSv(rules, confirmer)
    demandPossible(tx, action)
    const votes = tx.byKey(confirmation, `confirmations:${subjectOf(action)}`)
    const wanted = canonicalJson(confirmedAction.encode(action))
    const agreeing = votes.filter(
      ({ payload }) => canonicalJson(confirmedAction.encode(payload.action)) === wanted,
    )
    const own = votes.find(({ payload }) => payload.confirmer === confirmer)
    if (own !== undefined && agreeing.includes(own))
      return { confirmation: own.contractId, outcome: null }
    // A new proposal of one super-validator replaces its last one, so that proposals stay bounded.
    if (own !== undefined) tx.archive(confirmation, own.contractId)
    if (agreeing.length + 1 < memberSetOf(tx.genesis).quorum)
      return {
        confirmation: tx.create(confirmation, { dso: rules.dso, confirmer, action }),
        outcome: null,
      }
    for (const vote of votes) if (vote !== own) tx.archive(confirmation, vote.contractId)
    return { confirmation: null, outcome: carryOut(tx, action) }
  },
})

function demandPossible(tx: Transaction, action: ConfirmedAction): void {
  switch (action.tag) {
    case 'ResolveInitialPayment':
      tx.fetch(subscriptionInitialPayment, action.value.payment)
      return
    case 'SetAnsConfig':
      tx.fetch(ansRules, action.value.ansRules)
      demand(isValidConfig(action.value.config), 'INVALID_ARGUMENT', 'the config is out of range')
      return
    case 'SetProtocolVersion': {
      const { payload } = tx.fetch(dsoRules, action.value.dsoRules)
      const refusal = versionRefusal(payload, action.value.version, tx.now)
      demand(refusal === null, 'INVALID_ARGUMENT', refusal ?? '')
    }
  }
}

function carryOut(tx: Transaction, action: ConfirmedAction): ConfirmedOutcome {
  switch (action.tag) {
    case 'ResolveInitialPayment':
      return resolve(tx, action.value.payment)
    case 'SetAnsConfig': {
      const { ansRules: current, config } = action.value
      return { tag: 'ConfigSet', value: tx.exercise(setAnsConfig, current, { config }) }
    }
    case 'SetProtocolVersion':
      return { tag: 'ProtocolVersionSet', value: setProtocolVersion(tx, action.value) }
  }
}

function setProtocolVersion(
  tx: Transaction,
  vote: Extract<ConfirmedAction, { tag: 'SetProtocolVersion' }>['value'],
): { dsoRulesCid: ContractId } {
  const { payload } = tx.fetch(dsoRules, vote.dsoRules)
  tx.archive(dsoRules, vote.dsoRules)
  return { dsoRulesCid: tx.create(dsoRules, versionsAfter(payload, vote, tx.now)) }
}

/** Collects if the fields are valid, the lock has not ended and no live entry has the name; else refunds. */
function resolve(tx: Transaction, payment: ContractId): ConfirmedOutcome {
  const { reference, lockExpiresAt } = tx.fetch(subscriptionInitialPayment, payment).payload
  const context = contextOf(tx, reference)
  demand(context !== undefined, 'CHOICE_REFUSED', 'the payment has no entry context')
  const { payload: entry } = context
  const reason =
    findEntryFieldViolation(entry)?.rule ??
    (lockExpiresAt <= tx.now ? 'the lock of the payment has ended' : undefined) ??
    (findLiveEntry(tx, entry.name) === undefined ? undefined : 'a live entry has the name')
  if (reason === undefined) {
    const { entryCid } = tx.exercise(contextCollectInitial, context.contractId, { payment })
    return { tag: 'Collected', value: { entryCid } }
  }
  const { coinCid } = tx.exercise(contextRejectInitial, context.contractId, { payment })
  return { tag: 'Rejected', value: { reason, coinCid } }
}

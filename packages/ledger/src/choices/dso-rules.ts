/** Actions of one super-validator for the operator: the ledger determines the outcome (D-23). */
import { assert, fromHex, verifySignature } from '@quorumscan/base'
import type { ContractId, PartyId } from '@quorumscan/model'
import { encodeAddressStatement, memberSetOf, URL_LENGTH_MAX } from '@quorumscan/verifier'
import { contractId, int, list, party, record, text, unit } from '../lf.ts'
import { ADDRESS_INTERVAL_MICROS, OPEN_ROUNDS } from '../limits.ts'
import { demand, refuse } from '../refusal.ts'
import type { Transaction } from '../template.ts'
import { defineChoice } from '../template.ts'
import { ansEntry } from '../templates/ans-entry.ts'
import { ansEntryContext } from '../templates/ans-entry-context.ts'
import { coinRules } from '../templates/coin-rules.ts'
import { type DsoRulesPayload, dsoRules } from '../templates/dso-rules.ts'
import { openMiningRound } from '../templates/open-mining-round.ts'
import { scanAddress } from '../templates/scan-address.ts'
import type { SvInfo } from '../templates/shared.ts'
import { subscriptionIdleState } from '../templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from '../templates/subscription-initial-payment.ts'
import { subscriptionPayment } from '../templates/subscription-payment.ts'
import { subscriptionRequest } from '../templates/subscription-request.ts'
import { terminatedSubscription } from '../templates/terminated-subscription.ts'
import { expireEntry } from './ans-entry.ts'
import { contextCollectRenewal, terminateContext } from './ans-entry-context.ts'
import { mint } from './coin-rules.ts'
import { later, openRounds, singleton } from './common.ts'
import { expireSubscription } from './subscription-idle-state.ts'
import { expireInitialPayment } from './subscription-initial-payment.ts'
import { expirePayment } from './subscription-payment.ts'
import { withdrawRequest } from './subscription-request.ts'

/** @throws {Refusal} If the party is no super-validator. */
export function demandSv(rules: DsoRulesPayload, sv: PartyId): SvInfo {
  return (
    rules.svs.find((known) => known.party === sv) ??
    refuse('PERMISSION_DENIED', `${sv} is no super-validator`)
  )
}

const URL = /^https?:\/\/[!-~]+$/
const SIGNATURE = /^[0-9a-f]{128}$/

/** Publishes the address of a scan node, as the node's scan key signed it (D-34). */
export const setScanUrl = defineChoice(dsoRules, 'DsoRules_SetScanUrl', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_SetScanUrl', { sv: party, url: text, sequence: int, signature: text }),
  result: record('DsoRules_SetScanUrlResult', { addressCid: contractId }),
  checkArgument({ url, sequence, signature }) {
    demand(
      url.length <= URL_LENGTH_MAX && URL.test(url),
      'INVALID_URL',
      `a scan url is http:// or https:// and printable ASCII, at most ${URL_LENGTH_MAX} characters`,
    )
    demand(SIGNATURE.test(signature), 'INVALID_ARGUMENT', 'a signature is 128 hex digits')
    demand(sequence > 0, 'INVALID_ARGUMENT', 'the sequence of an address record begins with 1')
  },
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, url, sequence, signature }) {
    const { name } = demandSv(rules, sv)
    const [current] = tx.byKey(scanAddress, `address:${sv}`)
    if (current !== undefined) {
      demand(
        sequence > current.payload.sequence,
        'CHOICE_REFUSED',
        'an address record has a higher sequence than the one before',
      )
      demand(
        tx.now >= current.contract.createdAt + ADDRESS_INTERVAL_MICROS,
        'CHOICE_REFUSED',
        `an address lasts at least ${ADDRESS_INTERVAL_MICROS / 1_000_000} seconds`,
      )
    }
    demand(
      isSignedByScan(tx, { name, url, sequence, signature }),
      'INVALID_ARGUMENT',
      "an address record is signed by the node's scan key",
    )
    if (current !== undefined) tx.archive(scanAddress, current.contractId)
    const addressCid = tx.create(scanAddress, {
      dso: rules.dso,
      sv,
      name,
      url,
      sequence,
      signature,
    })
    return { addressCid }
  },
})

function isSignedByScan(
  tx: Transaction,
  address: { name: string; url: string; sequence: number; signature: string },
): boolean {
  const node = memberSetOf(tx.genesis).members.find(({ name }) => name === address.name)
  assert(node !== undefined, 'the super-validators are those of the genesis')
  return verifySignature({
    publicKey: node.scanKey,
    message: encodeAddressStatement({ genesisHash: tx.genesisHash, ...address }),
    signature: fromHex(address.signature),
  })
}

/** Collects a renewal payment while the entry lives. */
export const svCollectRenewal = defineChoice(dsoRules, 'DsoRules_CollectEntryRenewalPayment', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_CollectEntryRenewalPayment', { sv: party, payment: contractId }),
  result: contextCollectRenewal.result,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, payment }) {
    demandSv(rules, sv)
    const { reference, thisPaymentDueAt } = tx.fetch(subscriptionPayment, payment).payload
    const context = contextOf(tx, reference)
    demand(context !== undefined, 'CHOICE_REFUSED', 'the payment has no entry context')
    const { name, user } = context.payload
    const entry = tx
      .byKey(ansEntry, `name:${name}`)
      .find(({ payload }) => payload.user === user && payload.expiresAt === thisPaymentDueAt)
    demand(entry !== undefined, 'CHOICE_REFUSED', 'there is no entry that the payment is for')
    return tx.exercise(contextCollectRenewal, context.contractId, {
      payment,
      entry: entry.contractId,
    })
  },
})

export const svExpireEntry = defineChoice(dsoRules, 'DsoRules_ExpireAnsEntry', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_ExpireAnsEntry', { sv: party, entry: contractId }),
  result: unit,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, entry }) {
    demandSv(rules, sv)
    return tx.exercise(expireEntry, entry, { actor: rules.dso })
  },
})

/** Ends an overdue subscription and its context. */
export const svExpireSubscription = defineChoice(dsoRules, 'DsoRules_ExpireSubscription', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_ExpireSubscription', { sv: party, idle: contractId }),
  result: unit,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, idle }) {
    demandSv(rules, sv)
    const { reference } = tx.fetch(subscriptionIdleState, idle).payload
    const ended = tx.exercise(expireSubscription, idle, { actor: rules.dso })
    cleanUp(tx, rules.dso, { reference, terminated: ended.terminatedSubscription })
    return {}
  },
})

/** Ends a request that was not paid in time, and its context (D-17). */
export const svExpireRequest = defineChoice(dsoRules, 'DsoRules_ExpireSubscriptionRequest', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_ExpireSubscriptionRequest', { sv: party, request: contractId }),
  result: unit,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, request }) {
    demandSv(rules, sv)
    const { expiresAt } = tx.fetch(subscriptionRequest, request).payload
    demand(expiresAt <= tx.now, 'CHOICE_REFUSED', 'the request has not expired')
    const ended = tx.exercise(withdrawRequest, request, {})
    cleanUp(tx, rules.dso, { reference: request, terminated: ended.terminatedSubscription })
    return {}
  },
})

/** Refunds a payment, initial or renewal, whose lock has ended. */
export const svExpirePayment = defineChoice(dsoRules, 'DsoRules_ExpirePayment', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_ExpirePayment', { sv: party, payment: contractId }),
  result: unit,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, payment }) {
    demandSv(rules, sv)
    const choice = tx.is(subscriptionInitialPayment, payment) ? expireInitialPayment : expirePayment
    tx.exercise<unknown, { actor: PartyId }, unknown>(choice, payment, { actor: rules.dso })
    return {}
  },
})

/** Archives the remaining contracts of a subscription. */
export const svTerminateSubscription = defineChoice(dsoRules, 'DsoRules_TerminateSubscription', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_TerminateSubscription', { sv: party, terminated: contractId }),
  result: unit,
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv, terminated }) {
    demandSv(rules, sv)
    const { reference } = tx.fetch(terminatedSubscription, terminated).payload
    cleanUp(tx, rules.dso, { reference, terminated })
    return {}
  },
})

/** Closes the oldest round when its time has come, opens the next one, pays the rewards. */
export const advanceRounds = defineChoice(dsoRules, 'DsoRules_AdvanceOpenMiningRounds', {
  consuming: false,
  worksWhenFull: true,
  argument: record('DsoRules_AdvanceOpenMiningRounds', { sv: party }),
  result: record('DsoRules_AdvanceOpenMiningRoundsResult', {
    roundCid: contractId,
    rewards: list(contractId),
  }),
  controllers: (_rules, { sv }) => [sv],
  run(tx, { payload: rules }, { sv }) {
    demandSv(rules, sv)
    const open = openRounds(tx)
    const oldest = open[0]
    const newest = open.at(-1)
    assert(
      oldest !== undefined && newest !== undefined && open.length === OPEN_ROUNDS,
      'the number of open rounds never changes',
    )
    demand(
      oldest.payload.targetClosesAt <= tx.now,
      'CHOICE_REFUSED',
      'the oldest round is not due to close',
    )
    const { contractId: coinRulesCid, payload: terms } = singleton(tx, coinRules)
    tx.archive(openMiningRound, oldest.contractId)
    const roundCid = tx.create(openMiningRound, {
      dso: rules.dso,
      round: { number: newest.payload.round.number + 1 },
      coinPrice: terms.coinPrice,
      opensAt: tx.now,
      // One tick after the newest, or one tick from now if the log had stalled: missed ticks are skipped.
      targetClosesAt: later(Math.max(newest.payload.targetClosesAt, tx.now), terms.tickDuration),
      tickDuration: terms.tickDuration,
    })
    const rewards =
      terms.rewardPerRound === 0n
        ? []
        : rules.svs.map(
            ({ party: receiver }) =>
              tx.exercise(mint, coinRulesCid, {
                receiver,
                amount: terms.rewardPerRound,
                round: oldest.payload.round,
              }).coinCid,
          )
    return { roundCid, rewards }
  },
})

/** The context that a subscription request began; there is at most one. */
export function contextOf(tx: Transaction, reference: ContractId) {
  return tx.byKey(ansEntryContext, `context:${reference}`)[0]
}

function cleanUp(
  tx: Transaction,
  dso: PartyId,
  ended: { reference: ContractId; terminated: ContractId },
): void {
  const context = contextOf(tx, ended.reference)
  demand(context !== undefined, 'CHOICE_REFUSED', 'the subscription has no entry context')
  tx.exercise(terminateContext, context.contractId, {
    actor: dso,
    terminatedSubscription: ended.terminated,
  })
}

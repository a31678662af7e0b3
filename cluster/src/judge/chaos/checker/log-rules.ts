/**
 * Rules on the log itself, entry by entry: confirmations from the signed bytes, coin, and the outcome of each payment. They
 * reveal errors in the rules of interpretation.
 */

import {
  type AppliedEntry,
  ansEntry,
  coin,
  decodeEntry,
  isOf,
  lockedCoin,
  payloadOf,
  subscriptionInitialPayment,
  subscriptionPayment,
} from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'
import { type Genesis, memberSetOf } from '@quorumscan/verifier'
import { confirmationIn } from '../../watch/cluster-log.ts'
import type { RuleTally } from '../history.ts'

/** The only choices that create and destroy coin. */
const MAKES_COIN = ['CoinRules_DevNet_Tap', 'CoinRules_Mint']
const BURNS_COIN = ['AnsRules_CollectInitialEntryPayment', 'AnsRules_CollectEntryRenewalPayment']
/** A sweep per second finds due payments. This allows for a machine under load, with nodes that are down. */
const SETTLED_WITHIN_MICROS = 60_000_000

const RULES = [
  'a payment is collected by a quorum',
  'a refund is whole',
  'a renewal adds one period',
  'no payment remains open',
  'names are unique',
  'coin is conserved',
] as const
type Rule = (typeof RULES)[number]

/** Applies the rules while the log is read from its start. */
export function createLogRules(genesis: Genesis, genesisHash: string) {
  /** The members that confirmed a payment, by its contract id. */
  const confirmers = new Map<string, Set<string>>()
  /** The end of the lock of each open payment, by its contract id. */
  const openUntil = new Map<string, number>()
  /** The expiry of each live name entry, by its name. */
  const liveUntil = new Map<string, number>()
  const tallies = RULES.map((rule): RuleTally => ({ rule, samples: 0, findings: [] }))

  const record = (rule: Rule, finding: string | null): void => {
    const tally = tallies.find((one) => one.rule === rule)
    if (tally === undefined) return
    tally.samples += 1
    if (finding !== null) tally.findings.push(finding)
  }

  const countConfirmations = (bytes: Uint8Array): void => {
    const decoded = decodeEntry(bytes, genesisHash)
    if (decoded.kind !== 'submission') return
    const { participant, commands } = decoded.submission
    if (memberSetOf(genesis).memberOfKey(participant) === undefined) return
    for (const { payment } of commands.flatMap((command) => confirmationIn(command) ?? [])) {
      const by = confirmers.get(payment) ?? new Set<string>()
      confirmers.set(payment, by.add(participant))
    }
  }

  const checkPayments = (applied: AppliedEntry): void => {
    const hasEntry = applied.created.some((contract) => isOf(ansEntry, contract))
    const needed = memberSetOf(genesis).quorum
    for (const payment of applied.archived.flatMap((contract) => paymentIn(contract) ?? [])) {
      const { id, isInitial } = payment
      openUntil.delete(id)
      record('no payment remains open', null)
      if (!hasEntry) record('a refund is whole', refundProblem(applied, payment))
      if (!hasEntry || !isInitial) continue
      const count = confirmers.get(id)?.size ?? 0
      const finding = `${id} was collected at offset ${applied.offset} with ${count} of ${needed} confirmations`
      record('a payment is collected by a quorum', count >= needed ? null : finding)
    }
    for (const { id, lockExpiresAt } of applied.created.flatMap((one) => paymentIn(one) ?? []))
      openUntil.set(id, lockExpiresAt)
  }

  const checkNames = (applied: AppliedEntry): void => {
    const entriesIn = (contracts: readonly Contract[]) =>
      contracts.filter((one) => isOf(ansEntry, one)).map((one) => payloadOf(ansEntry, one))
    const ended = new Map<string, number>()
    for (const { name, expiresAt } of entriesIn(applied.archived)) {
      ended.set(name, expiresAt)
      liveUntil.delete(name)
    }
    for (const { name, expiresAt } of entriesIn(applied.created)) {
      const isTaken = (liveUntil.get(name) ?? 0) > applied.recordTime
      const twice = `${name} has two live entries at offset ${applied.offset}`
      record('names are unique', isTaken ? twice : null)
      liveUntil.set(name, expiresAt)
      const before = ended.get(name)
      if (before === undefined) continue
      const payments = applied.archived.flatMap((contract) => paymentIn(contract) ?? [])
      const isOnePeriod = payments.some(({ period }) => expiresAt - before === period)
      const other = `${name} was renewed at offset ${applied.offset} by ${expiresAt - before} µs`
      record('a renewal adds one period', isOnePeriod ? null : other)
    }
  }

  const checkCoin = (applied: AppliedEntry): void => {
    const { result } = applied
    if (result.kind !== 'accepted') return
    const sum = (contracts: readonly Contract[]) =>
      contracts.reduce((total, contract) => total + amountOf(contract), 0n)
    const [before, after] = [sum(applied.archived), sum(applied.created)]
    if (before === 0n && after === 0n) return
    const [causes, happened] =
      after > before ? [MAKES_COIN, 'appeared'] : [BURNS_COIN, 'disappeared']
    const isAllowed =
      after === before ||
      result.update.events.some((one) => one.kind === 'exercised' && causes.includes(one.choice))
    const finding = `coin ${happened} at offset ${applied.offset}`
    record('coin is conserved', isAllowed ? null : finding)
  }

  return {
    /** Takes the next log entry: its signed bytes, and the result of interpretation. */
    check(bytes: Uint8Array, applied: AppliedEntry): void {
      countConfirmations(bytes)
      checkPayments(applied)
      checkNames(applied)
      checkCoin(applied)
    },
    /** @param endTime - Record time of the last entry. */
    tallies(endTime: number): RuleTally[] {
      for (const [payment, until] of openUntil)
        if (until + SETTLED_WITHIN_MICROS < endTime) {
          const finding = `the lock of ${payment} ended long ago, but it was neither collected nor refunded`
          record('no payment remains open', finding)
        }
      return tallies
    },
  }
}

/** A payment of a subscription, initial or not; null for any other contract. */
function paymentIn(contract: Contract) {
  const isInitial = isOf(subscriptionInitialPayment, contract)
  if (!isInitial && !isOf(subscriptionPayment, contract)) return null
  const { lockExpiresAt, subscriptionData, payData } = isInitial
    ? payloadOf(subscriptionInitialPayment, contract)
    : payloadOf(subscriptionPayment, contract)
  const { sender: payer } = subscriptionData
  const { paymentInterval: period } = payData
  return { id: contract.contractId, isInitial, lockExpiresAt, payer, period }
}
type Payment = NonNullable<ReturnType<typeof paymentIn>>

/** What is wrong with a refund: the whole locked amount must be the payer's again. */
function refundProblem(applied: AppliedEntry, { id, payer }: Payment): string | null {
  const locked = applied.archived.find((contract) => isOf(lockedCoin, contract))
  const freed = applied.created.find(
    (contract) => isOf(coin, contract) && payloadOf(coin, contract).owner === payer,
  )
  return locked !== undefined && freed !== undefined && amountOf(locked) === amountOf(freed)
    ? null
    : `${id} ended at offset ${applied.offset} without an entry, and was not refunded in full`
}

function amountOf(contract: Contract): bigint {
  if (isOf(coin, contract)) return payloadOf(coin, contract).amount.initialAmount
  if (isOf(lockedCoin, contract)) return payloadOf(lockedCoin, contract).coin.amount.initialAmount
  return 0n
}

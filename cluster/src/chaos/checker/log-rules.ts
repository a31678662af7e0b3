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
import { type Genesis, quorumOf } from '@quorumscan/verifier'
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
export class LogRules {
  readonly #genesis: Genesis
  readonly #genesisHash: string
  /** The members that confirmed a payment, by its contract id. */
  readonly #confirmers = new Map<string, Set<string>>()
  /** The end of the lock of each open payment, by its contract id. */
  readonly #openUntil = new Map<string, number>()
  /** The expiry of each live name entry, by its name. */
  readonly #liveUntil = new Map<string, number>()
  readonly #tallies: ReadonlyMap<Rule, RuleTally>

  constructor(genesis: Genesis, genesisHash: string) {
    this.#genesis = genesis
    this.#genesisHash = genesisHash
    this.#tallies = new Map(RULES.map((rule) => [rule, { rule, samples: 0, findings: [] }]))
  }

  /** Takes the next log entry: its signed bytes, and the result of interpretation. */
  check(bytes: Uint8Array, applied: AppliedEntry): void {
    this.#countConfirmations(bytes)
    this.#checkPayments(applied)
    this.#checkNames(applied)
    this.#checkCoin(applied)
  }

  /** @param endTime - Record time of the last entry. */
  tallies(endTime: number): RuleTally[] {
    for (const [payment, until] of this.#openUntil)
      if (until + SETTLED_WITHIN_MICROS < endTime) {
        const finding = `the lock of ${payment} ended long ago, but it was neither collected nor refunded`
        this.#note('no payment remains open', finding)
      }
    return [...this.#tallies.values()]
  }

  #note(rule: Rule, finding: string | null): void {
    const tally = this.#tallies.get(rule)
    if (tally === undefined) return
    tally.samples += 1
    if (finding !== null) tally.findings.push(finding)
  }

  #countConfirmations(bytes: Uint8Array): void {
    const decoded = decodeEntry(bytes, this.#genesisHash)
    if (decoded.kind !== 'submission') return
    const { participant, commands } = decoded.submission
    if (!this.#genesis.nodes.some(({ operatorKey }) => operatorKey === participant)) return
    for (const payment of confirmedPayments(commands)) {
      const by = this.#confirmers.get(payment) ?? new Set<string>()
      this.#confirmers.set(payment, by.add(participant))
    }
  }

  #checkPayments(applied: AppliedEntry): void {
    const hasEntry = applied.created.some((contract) => isOf(ansEntry, contract))
    const needed = quorumOf(this.#genesis.nodes.length)
    for (const payment of applied.archived.flatMap((contract) => paymentIn(contract) ?? [])) {
      const { id, isInitial } = payment
      this.#openUntil.delete(id)
      this.#note('no payment remains open', null)
      if (!hasEntry) this.#note('a refund is whole', refundProblem(applied, payment))
      if (!hasEntry || !isInitial) continue
      const count = this.#confirmers.get(id)?.size ?? 0
      const finding = `${id} was collected at offset ${applied.offset} with ${count} of ${needed} confirmations`
      this.#note('a payment is collected by a quorum', count >= needed ? null : finding)
    }
    for (const { id, lockExpiresAt } of applied.created.flatMap((one) => paymentIn(one) ?? []))
      this.#openUntil.set(id, lockExpiresAt)
  }

  #checkNames(applied: AppliedEntry): void {
    const entriesIn = (contracts: readonly Contract[]) =>
      contracts.filter((one) => isOf(ansEntry, one)).map((one) => payloadOf(ansEntry, one))
    const ended = new Map<string, number>()
    for (const { name, expiresAt } of entriesIn(applied.archived)) {
      ended.set(name, expiresAt)
      this.#liveUntil.delete(name)
    }
    for (const { name, expiresAt } of entriesIn(applied.created)) {
      const isTaken = (this.#liveUntil.get(name) ?? 0) > applied.recordTime
      const twice = `${name} has two live entries at offset ${applied.offset}`
      this.#note('names are unique', isTaken ? twice : null)
      this.#liveUntil.set(name, expiresAt)
      const before = ended.get(name)
      if (before === undefined) continue
      const isOnePeriod = expiresAt - before === this.#genesis.names.entryLifetimeMicros
      const other = `${name} was renewed at offset ${applied.offset} by ${expiresAt - before} µs`
      this.#note('a renewal adds one period', isOnePeriod ? null : other)
    }
  }

  #checkCoin(applied: AppliedEntry): void {
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
      result.update.events.some(
        (event) => event.kind === 'exercised' && causes.includes(event.choice),
      )
    const finding = `coin ${happened} at offset ${applied.offset}`
    this.#note('coin is conserved', isAllowed ? null : finding)
  }
}

function confirmedPayments(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Reflect.get(value, 'tag') === 'ResolveInitialPayment') {
    const payment: unknown = Object(Reflect.get(value, 'value')).payment
    return typeof payment === 'string' ? [payment] : []
  }
  return Object.values(value).flatMap(confirmedPayments)
}

/** A payment of a subscription, initial or not; null for any other contract. */
function paymentIn(contract: Contract) {
  const isInitial = isOf(subscriptionInitialPayment, contract)
  if (!isInitial && !isOf(subscriptionPayment, contract)) return null
  const { lockExpiresAt, subscriptionData } = isInitial
    ? payloadOf(subscriptionInitialPayment, contract)
    : payloadOf(subscriptionPayment, contract)
  return { id: contract.contractId, isInitial, lockExpiresAt, payer: subscriptionData.sender }
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

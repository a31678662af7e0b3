/** Paying with coins of a party: choosing them, and choosing again when one was spent in between. */
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  amountKey,
  coin,
  type Ledger,
  payloadOf,
  type SubscriptionPayData,
} from '@quorumscan/ledger'
import {
  type Amount,
  type Command,
  type ContractId,
  ceilDivide,
  formatAmount,
  type PartyId,
} from '@quorumscan/model'
import type { CheckedSubmitter, CommandInput } from '@quorumscan/submit'
import {
  type KeyedLedger,
  newestRound,
  type OperationDeps,
  submissionOf,
  type UserCall,
  type UserCommand,
} from '../ledger.ts'
import type { PartyQueue } from './party-queue.ts'

/** Coins can be spent through the ledger interface at the same time; each attempt chooses from what is left. */
const ATTEMPTS_MAX = 3

export type SpendingDeps = OperationDeps & {
  /** Operations that spend wait here for their turn, so that two do not choose the same coins. */
  readonly queue: PartyQueue
}

export type Spending = Omit<UserCommand, 'command'> & {
  readonly needed: Amount
  readonly command: (inputs: readonly ContractId[]) => Command
}

/** The ports of `spend`: what the submitter returns is the outcome. */
type SpendingPorts<Outcome> = {
  readonly ledger: KeyedLedger & Pick<Ledger, 'totals'>
  readonly submitter: Pick<CheckedSubmitter, 'dryRun'> & {
    readonly submit: (input: CommandInput, signal: AbortSignal) => Promise<Outcome>
  }
}

/**
 * Submits one command that spends coin. To be called in the party's turn. `prepare` is called before each
 * attempt: what it has read may have changed, and it throws when nothing is left to pay for.
 *
 * @throws {ScanError} DUPLICATE_COMMAND for a repeated command id, for any coins that the party still holds;
 *   INSUFFICIENT_FUNDS (`details`: needed, available), LIMIT_EXCEEDED, and as any submission.
 */
export async function spend<Outcome>(
  deps: SpendingPorts<Outcome>,
  input: UserCall & { readonly prepare: () => Promise<Spending> },
): Promise<Outcome> {
  const { user, signal } = input
  for (let attempt = 1; ; attempt++) {
    const { needed, command, ...options } = await input.prepare()
    const submissionWith = (inputs: readonly ContractId[]) =>
      submissionOf(user, { command: command(inputs), ...options })
    let inputs: readonly ContractId[]
    try {
      inputs = await chooseCoins(deps.ledger, user.party, needed)
    } catch (error) {
      // The first of two equal requests may have spent the coins. Then the second is a duplicate, not short of funds.
      const refusal = await deps.submitter.dryRun(submissionWith([]))
      throw refusal === null || refusal.code === 'INSUFFICIENT_FUNDS' ? error : refusal
    }
    try {
      return await deps.submitter.submit(submissionWith(inputs), signal)
    } catch (error) {
      // Either a coin was spent, or what is paid for has ended: then the next `prepare` throws.
      const isGone = isScanError(error, 'CONTRACT_CONSUMED', 'CONTRACT_NOT_FOUND')
      if (!isGone || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

/** Coin for one payment of a subscription at the price in force (D-22). */
export async function coinForPayment(ledger: KeyedLedger, { paymentAmount }: SubscriptionPayData) {
  const { amount, unit } = paymentAmount
  return unit === 'CoinUnit' ? amount : ceilDivide(amount, (await newestRound(ledger)).price)
}

/** Reads no more coins than a transaction takes, and none where they do not suffice. @throws {ScanError} As `selectCoins`. */
async function chooseCoins(
  ledger: KeyedLedger & Pick<Ledger, 'totals'>,
  party: PartyId,
  needed: Amount,
): Promise<readonly ContractId[]> {
  const key = amountKey(coin.entity, party)
  const [total] = await ledger.totals([key])
  const available = total?.sum ?? 0n
  const isEnough = available >= needed
  const contracts = isEnough ? await ledger.contractsByKey(key, { limit: INPUTS_MAX }) : []
  const coins = contracts.map((contract) => ({
    contractId: contract.contractId,
    amount: payloadOf(coin, contract).amount.initialAmount,
  }))
  return selectCoins({ coins, available }, needed)
}

/** Each input is fetched, archived and recorded in one transaction of at most 1 000 events (Rule 1). */
export const INPUTS_MAX = 100

type SpendableCoin = { readonly contractId: ContractId; readonly amount: Amount }

/**
 * Coins that together are worth at least `needed`: the largest ones, so that there are few of them.
 *
 * @param wallet.coins - The largest `INPUTS_MAX` of the party.
 * @param wallet.available - The sum of all coins of the party.
 * @throws {ScanError} INSUFFICIENT_FUNDS (`details`: needed, available) or, where only the number of coins
 *   is too large, LIMIT_EXCEEDED.
 */
export function selectCoins(
  { coins, available }: { readonly coins: readonly SpendableCoin[]; readonly available: Amount },
  needed: Amount,
): ContractId[] {
  if (available < needed)
    throw new ScanError(
      'INSUFFICIENT_FUNDS',
      `The payment needs ${formatAmount(needed)} coin; unlocked are ${formatAmount(available)}.`,
      { details: { needed: formatAmount(needed), available: formatAmount(available) } },
    )
  // Only the sign of the difference counts.
  const largestFirst = coins.toSorted(
    (a, b) => Number(b.amount - a.amount) || (a.contractId < b.contractId ? -1 : 1),
  )
  const inputs: ContractId[] = []
  let covered = 0n
  for (const coin of largestFirst) {
    if (covered >= needed) break
    inputs.push(coin.contractId)
    covered += coin.amount
  }
  if (covered < needed || inputs.length > INPUTS_MAX)
    throw new ScanError(
      'LIMIT_EXCEEDED',
      `The payment would need more than ${INPUTS_MAX} coins, the most that a transaction takes.`,
      { details: { limit: 'inputs', max: INPUTS_MAX } },
    )
  return inputs
}

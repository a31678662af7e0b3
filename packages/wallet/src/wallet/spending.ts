/** Paying with coins of a party: choosing them, and choosing again when one is gone meanwhile. */
import { isScanError } from '@quorumscan/errors'
import type { Ledger, SubscriptionPayData } from '@quorumscan/ledger'
import {
  type Amount,
  type Command,
  type ContractId,
  ceilDivide,
  type Update,
} from '@quorumscan/model'
import type { Commander } from '@quorumscan/submit'
import { newestRound, submissionOf, type WalletUser, type Work } from '../ledger.ts'
import { selectCoins } from './coin-selection.ts'
import { spendableCoins } from './coins.ts'
import type { PartyQueue } from './party-queue.ts'

/** Coins can be spent through the ledger interface meanwhile; each try chooses from what is left. */
const ATTEMPTS_MAX = 3

export type SpendingDeps = {
  readonly ledger: Ledger
  readonly commander: Commander
  /** Whoever spends waits for its turn here, so that two operations do not choose the same coins. */
  readonly queue: PartyQueue
}

export type Spending = Omit<Work, 'command'> & {
  readonly needed: Amount
  readonly command: (inputs: readonly ContractId[]) => Command
}

/**
 * Submits one command that spends coin. To be called in the party's turn. `prepare` is asked before each
 * try: what it has read may have changed, and it throws when there is nothing left to pay for.
 *
 * @throws {ScanError} DUPLICATE_COMMAND for a repeated command id, whatever the party still holds;
 *   INSUFFICIENT_FUNDS (`details`: needed, available), LIMIT_EXCEEDED, and what any submission can meet.
 */
export async function spend(
  deps: SpendingDeps,
  input: { readonly user: WalletUser; readonly prepare: () => Promise<Spending> },
  signal: AbortSignal,
): Promise<Update> {
  const { user } = input
  for (let attempt = 1; ; attempt++) {
    const { needed, command, ...options } = await input.prepare()
    const submissionWith = (inputs: readonly ContractId[]) =>
      submissionOf(user, { command: command(inputs), ...options })
    const coins = await spendableCoins(deps.ledger, user.party)
    let inputs: readonly ContractId[]
    try {
      inputs = selectCoins(coins, needed)
    } catch (error) {
      // What was spent by the first of two equal requests must not look like missing funds to the second.
      const refusal = await deps.commander.rehearse(submissionWith([]))
      throw refusal === null || refusal.code === 'INSUFFICIENT_FUNDS' ? error : refusal
    }
    try {
      return await deps.commander.submit(submissionWith(inputs), signal)
    } catch (error) {
      // Either what is paid for is gone, which the next look at it says, or a coin is.
      const isGone =
        isScanError(error, 'CONTRACT_CONSUMED') || isScanError(error, 'CONTRACT_NOT_FOUND')
      if (!isGone || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

/** Coin for one payment of a subscription at the price in force (D-22). */
export async function coinForPayment(
  ledger: Ledger,
  { paymentAmount }: SubscriptionPayData,
): Promise<Amount> {
  const { amount, unit } = paymentAmount
  return unit === 'CoinUnit' ? amount : ceilDivide(amount, (await newestRound(ledger)).price)
}

/** Paying with coins of a party: choosing them, and choosing again when one is gone meanwhile. */

import { isScanError } from '@quorumscan/errors'
import type { Ledger, SubscriptionPayData } from '@quorumscan/ledger'
import {
  type Amount,
  type Command,
  type ContractId,
  ceilDivide,
  type DisclosedContract,
  type Update,
} from '@quorumscan/model'
import type { Commander } from '@quorumscan/submit'
import { newestRound } from '../ledger/rules.ts'
import type { WalletUser } from '../users/wallet-user.ts'
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

export type Spending = {
  readonly needed: Amount
  readonly command: (inputs: readonly ContractId[]) => Command
  /** What the command uses and the party does not see. */
  readonly disclosed?: readonly DisclosedContract[]
  /** With one, it is spent once however often it is tried. */
  readonly commandId?: string
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
  const { userId, party } = input.user
  for (let attempt = 1; ; attempt++) {
    const { needed, command, disclosed = [], commandId } = await input.prepare()
    const commandOf = (inputs: readonly ContractId[]) => ({
      userId,
      actAs: [party],
      commands: [command(inputs)],
      disclosed,
      ...(commandId === undefined ? {} : { commandId }),
    })
    const inputs = await chooseInputs(deps, { party, needed, commandOf })
    try {
      return await deps.commander.submit(commandOf(inputs), signal)
    } catch (error) {
      // Either what is paid for is gone, which the next look at it says, or a coin is.
      const isGone =
        isScanError(error, 'CONTRACT_CONSUMED') || isScanError(error, 'CONTRACT_NOT_FOUND')
      if (!isGone || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

async function chooseInputs(
  deps: SpendingDeps,
  input: {
    readonly party: string
    readonly needed: Amount
    readonly commandOf: (inputs: readonly ContractId[]) => Parameters<Commander['rehearse']>[0]
  },
): Promise<readonly ContractId[]> {
  const coins = await spendableCoins(deps.ledger, input.party)
  try {
    return selectCoins(coins, input.needed)
  } catch (error) {
    // What was spent by the first of two equal requests must not look like missing funds to the second.
    const refusal = await deps.commander.rehearse(input.commandOf([]))
    throw refusal === null || refusal.code === 'INSUFFICIENT_FUNDS' ? error : refusal
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

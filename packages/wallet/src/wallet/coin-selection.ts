/** Choosing coins to pay with. Pure. */
import { ScanError } from '@quorumscan/errors'
import { type Amount, type ContractId, formatAmount } from '@quorumscan/model'

/** Each input is fetched, archived and recorded in one transaction of at most 1 000 nodes (Rule 1). */
export const INPUTS_MAX = 100

export type SpendableCoin = { readonly contractId: ContractId; readonly amount: Amount }

/**
 * Coins that together are worth at least `needed`: the largest ones, so that there are few of them.
 *
 * @throws {ScanError} INSUFFICIENT_FUNDS (`details`: needed, available) or, where only the number of coins
 *   stands in the way, LIMIT_EXCEEDED.
 */
export function selectCoins(coins: readonly SpendableCoin[], needed: Amount): ContractId[] {
  const available = coins.reduce((sum, coin) => sum + coin.amount, 0n)
  if (available < needed)
    throw new ScanError(
      'INSUFFICIENT_FUNDS',
      `The payment needs ${formatAmount(needed)} coin; unlocked are ${formatAmount(available)}.`,
      { details: { needed: formatAmount(needed), available: formatAmount(available) } },
    )
  const largestFirst = coins.toSorted((a, b) =>
    a.amount === b.amount ? compare(a.contractId, b.contractId) : a.amount > b.amount ? -1 : 1,
  )
  const inputs: ContractId[] = []
  let covered = 0n
  for (const coin of largestFirst) {
    if (covered >= needed) break
    inputs.push(coin.contractId)
    covered += coin.amount
  }
  if (inputs.length > INPUTS_MAX)
    throw new ScanError(
      'LIMIT_EXCEEDED',
      `The payment would need ${inputs.length} coins; a transaction takes at most ${INPUTS_MAX}.`,
      { details: { limit: 'inputs', max: INPUTS_MAX } },
    )
  return inputs
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

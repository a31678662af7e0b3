/** The balance, which a page shows before it needs the rest of the wallet: without its conversions. */
import type { components } from '../generated/answers.ts'
import { isBalanceAnswer } from '../generated/balance-check.ts'
import type { Http } from '../http/http.ts'
import type { CallOptions } from './wallet-reads.ts'

/** Amounts of coin, as decimal texts: `effectiveUnlockedQty` can be spent, `effectiveLockedQty` waits for a decision. */
export type Balance = components['schemas']['BalanceAnswer']

/** Spendable and locked coin. Throws as the calls of the wallet. */
export async function readBalance(
  http: Http,
  { signal, timeoutMs }: CallOptions = {},
): Promise<Balance> {
  const request = { method: 'GET', path: '/v0/wallet/balance', signal, timeoutMs } as const
  const found = await http.call(request, isBalanceAnswer)
  return {
    round: found.round,
    effectiveUnlockedQty: found.effective_unlocked_qty,
    effectiveLockedQty: found.effective_locked_qty,
    totalHoldingFees: found.total_holding_fees,
  }
}

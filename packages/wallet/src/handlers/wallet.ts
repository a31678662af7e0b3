/** Coin of the user, and what became of it (D-20). */

import { balanceOf, listCoins, tap } from '../wallet/coins.ts'
import type { WalletDeps } from '../wallet/dependencies.ts'
import { listTransactions } from '../wallet/transactions.ts'
import { type HandlersOf, walletOf } from './handlers.ts'

export function walletHandlers(
  context: WalletDeps,
): HandlersOf<'tap' | 'getBalance' | 'listCoins' | 'listTransactions'> {
  const { ledger } = context
  return {
    async tap(request) {
      const user = await walletOf(context, request)
      const { amount, command_id: commandId } = request.body
      const input = { user, usd: amount, commandId: commandId ?? null }
      return { body: { contract_id: await tap(context, input, request.signal) } }
    },
    async getBalance(request) {
      const user = await walletOf(context, request)
      return { body: await balanceOf(ledger, user.party) }
    },
    async listCoins(request) {
      const { party } = await walletOf(context, request)
      const { synchronizerId } = context.genesis
      return { body: await listCoins(ledger, { party, synchronizerId }) }
    },
    async listTransactions(request) {
      const user = await walletOf(context, request)
      const { page_size: limit, begin_after_id: id } = request.body
      // Upstream's clients send an empty text for the first page.
      const before = id === undefined || id === '' ? null : id
      return {
        body: { items: await listTransactions(ledger, { user, limit, before }, request.signal) },
      }
    },
  }
}

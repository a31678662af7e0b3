/** The wallet (D-20). */
import type { Context } from '../context.ts'
import { balanceOf, listCoins, tap } from '../wallet/coins.ts'
import {
  acceptRequest,
  getRequest,
  listInitialPayments,
  listRequests,
  listSubscriptions,
  rejectRequest,
} from '../wallet/subscriptions.ts'
import { type HandlersOf, walletOf } from './handlers.ts'

export function walletHandlers(
  context: Context,
): HandlersOf<
  | 'tap'
  | 'getBalance'
  | 'listCoins'
  | 'listSubscriptionRequests'
  | 'getSubscriptionRequest'
  | 'acceptSubscriptionRequest'
  | 'rejectSubscriptionRequest'
  | 'listInitialPayments'
  | 'listSubscriptions'
> {
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
    async listSubscriptionRequests(request) {
      const user = await walletOf(context, request)
      return { body: { subscription_requests: await listRequests(ledger, user) } }
    },
    async getSubscriptionRequest(request) {
      const user = await walletOf(context, request)
      return { body: await getRequest(ledger, { user, contractId: request.params.contract_id }) }
    },
    async acceptSubscriptionRequest(request) {
      const user = await walletOf(context, request)
      const input = { user, contractId: request.params.contract_id }
      const payment = await acceptRequest(context, input, request.signal)
      return { body: { initial_payment_contract_id: payment } }
    },
    async rejectSubscriptionRequest(request) {
      const user = await walletOf(context, request)
      const input = { user, contractId: request.params.contract_id }
      await rejectRequest(context, input, request.signal)
      return { body: null }
    },
    async listInitialPayments(request) {
      const user = await walletOf(context, request)
      return { body: { initial_payments: await listInitialPayments(ledger, user) } }
    },
    async listSubscriptions(request) {
      const user = await walletOf(context, request)
      return { body: { subscriptions: await listSubscriptions(ledger, user) } }
    },
  }
}

/** Requests for payment and subscriptions (D-20, D-21). */
import type { WalletDeps } from '../wallet/dependencies.ts'
import {
  acceptRequest,
  getRequest,
  listInitialPayments,
  listRequests,
  rejectRequest,
} from '../wallet/requests.ts'
import {
  cancelSubscription,
  listSubscriptions,
  paySubscription,
  setAutoRenew,
} from '../wallet/subscriptions.ts'
import { type HandlersOf, type Principal, walletOf } from './handlers.ts'

export function subscriptionHandlers(
  context: WalletDeps,
): HandlersOf<
  | 'listSubscriptionRequests'
  | 'getSubscriptionRequest'
  | 'acceptSubscriptionRequest'
  | 'rejectSubscriptionRequest'
  | 'listInitialPayments'
  | 'listSubscriptions'
  | 'setAutoRenew'
  | 'paySubscription'
  | 'cancelSubscription'
> {
  const { ledger } = context
  const ofOneContract = async (request: {
    readonly user: Principal
    readonly params: { readonly contract_id: string }
  }) => ({ user: await walletOf(context, request), contractId: request.params.contract_id })

  return {
    async listSubscriptionRequests(request) {
      const user = await walletOf(context, request)
      return { body: { subscription_requests: await listRequests(ledger, user) } }
    },
    async getSubscriptionRequest(request) {
      return { body: await getRequest(ledger, await ofOneContract(request)) }
    },
    async acceptSubscriptionRequest(request) {
      const isAutoRenewed = request.body?.auto_renew ?? false
      const input = { ...(await ofOneContract(request)), isAutoRenewed }
      const payment = await acceptRequest(context, input, request.signal)
      return { body: { initial_payment_contract_id: payment } }
    },
    async rejectSubscriptionRequest(request) {
      await rejectRequest(context, await ofOneContract(request), request.signal)
      return { body: null }
    },
    async listInitialPayments(request) {
      const user = await walletOf(context, request)
      return { body: { initial_payments: await listInitialPayments(ledger, user) } }
    },
    async listSubscriptions(request) {
      const user = await walletOf(context, request)
      return { body: { subscriptions: await listSubscriptions(context, user) } }
    },
    async setAutoRenew(request) {
      const isEnabled = request.body.enabled
      const input = { ...(await ofOneContract(request)), isEnabled }
      await setAutoRenew(context, input, request.signal)
      return { body: { auto_renew: isEnabled } }
    },
    async paySubscription(request) {
      const payment = await paySubscription(context, await ofOneContract(request), request.signal)
      return { body: { payment_contract_id: payment } }
    },
    async cancelSubscription(request) {
      await cancelSubscription(context, await ofOneContract(request), request.signal)
      return { body: null }
    },
  }
}

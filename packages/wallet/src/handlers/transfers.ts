/** Transfers between parties (D-20). */
import type { WalletDeps } from '../wallet/dependencies.ts'
import { answerTransfer, createTransfer, listTransfers } from '../wallet/transfers.ts'
import { type HandlersOf, type Principal, walletOf } from './handlers.ts'

export function transferHandlers(
  context: WalletDeps,
): HandlersOf<
  'createTransfer' | 'listTransfers' | 'acceptTransfer' | 'rejectTransfer' | 'withdrawTransfer'
> {
  const answering =
    (answer: 'accept' | 'reject' | 'withdraw') =>
    async (request: {
      readonly user: Principal
      readonly params: { readonly contract_id: string }
      readonly signal: AbortSignal
    }) => {
      const user = await walletOf(context, request)
      const input = { user, contractId: request.params.contract_id, answer }
      return { body: await answerTransfer(context, input, request.signal) }
    }

  return {
    async createTransfer(request) {
      const user = await walletOf(context, request)
      const { body } = request
      const transfer = {
        receiver: body.receiver_party_id,
        amount: body.amount,
        description: body.description,
        expiresAt: body.expires_at,
        trackingId: body.tracking_id,
      }
      return {
        body: await createTransfer(context, { user, request: transfer }, request.signal),
      }
    },
    async listTransfers(request) {
      const user = await walletOf(context, request)
      return { body: { transfers: await listTransfers(context.ledger, user) } }
    },
    acceptTransfer: answering('accept'),
    rejectTransfer: answering('reject'),
    withdrawTransfer: answering('withdraw'),
  }
}

import {
  isOf,
  payloadOf,
  refundPaymentCommand,
  subscriptionInitialPayment,
  subscriptionPayment,
} from '@quorumscan/ledger'
import type { Contract, PartyId } from '@quorumscan/model'
import type { JobDefinition, WalletDeps } from '../job.ts'
import { activeContract, selectActive } from '../reads.ts'
import { submitAsParty } from '../submit.ts'

/** Gives a party its coin back though no super-validator is there to do it (D-23: any signatory may). */
export const expireOwnPayment: JobDefinition<WalletDeps> = {
  name: 'expire-payment',
  doc: 'Refunds a payment of a hosted party that was not collected; due when its lock ends.',
  share: 'one',
  select: (payments, deps) =>
    selectActive(deps.ledger, payments, (contract) => deps.isHosted(paymentOf(contract).payer)),
  async process(payment, deps) {
    const contract = await activeContract(deps.ledger, payment)
    if (contract === null) return
    const { payer, paymentKind } = paymentOf(contract)
    const command = refundPaymentCommand({ payment, paymentKind, actor: payer })
    await submitAsParty(deps, { job: this.name, contractId: payment, party: payer, command })
  },
}

function paymentOf(contract: Contract): { payer: PartyId; paymentKind: 'initial' | 'renewal' } {
  if (isOf(subscriptionInitialPayment, contract)) {
    const { sender } = payloadOf(subscriptionInitialPayment, contract).subscriptionData
    return { payer: sender, paymentKind: 'initial' }
  }
  const { sender } = payloadOf(subscriptionPayment, contract).subscriptionData
  return { payer: sender, paymentKind: 'renewal' }
}

/** What every validator runs for the parties that it hosts. A command for a contract is one row here. */
import {
  expireTransferCommand,
  isOf,
  payloadOf,
  refundPaymentCommand,
  subscriptionInitialPayment,
  subscriptionPayment,
  transferInstruction,
} from '@quorumscan/ledger'
import type { Command, Contract, PartyId } from '@quorumscan/model'
import type { JobDefinition, WalletDeps } from './job.ts'
import { activeContract, selectActive } from './reads.ts'
import { submitFor } from './submit.ts'
import { renewSubscription } from './wallet/renew-subscription.ts'

type Act = { readonly party: PartyId; readonly command: Command }

/** Submits what `actOf` says; null where no party that may act is hosted. */
function partyJob(
  name: string,
  doc: string,
  actOf: (contract: Contract, deps: WalletDeps) => Act | null,
): JobDefinition<WalletDeps> {
  return {
    name,
    doc,
    share: 'one',
    select: (ids, deps) => selectActive(deps.ledger, ids, (one) => actOf(one, deps) !== null),
    async process(contractId, deps) {
      const contract = await activeContract(deps.ledger, contractId)
      const act = contract && actOf(contract, deps)
      if (act !== null) await submitFor(deps, { job: name, contractId, ...act })
    },
  }
}

export const walletJobs: readonly JobDefinition<WalletDeps>[] = [
  renewSubscription,
  // A party gets its coin back though no super-validator is there to do it (D-23: any signatory may).
  partyJob(
    'expire-payment',
    'Refunds a payment of a hosted party that was not collected; due when its lock ends.',
    (contract, deps) => {
      const isInitial = isOf(subscriptionInitialPayment, contract)
      const template = isInitial ? subscriptionInitialPayment : subscriptionPayment
      const { sender: actor } = payloadOf(template, contract).subscriptionData
      const paymentKind = isInitial ? 'initial' : 'renewal'
      const command = refundPaymentCommand({ payment: contract.contractId, paymentKind, actor })
      return deps.isHosted(actor) ? { party: actor, command } : null
    },
  ),
  // No super-validator can do this: the coin of an offer belongs to its sender.
  partyJob(
    'expire-offer',
    'Returns the coin of an offer that nobody took; due at its executeBefore.',
    (contract, deps) => {
      const { sender, receiver } = payloadOf(transferInstruction, contract).transfer
      // Both may end it.
      const actor = [sender, receiver].find(deps.isHosted)
      if (actor === undefined) return null
      const command = expireTransferCommand({ instruction: contract.contractId, actor })
      return { party: actor, command }
    },
  ),
]

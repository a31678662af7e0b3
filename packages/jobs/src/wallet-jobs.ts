/** The jobs that every validator runs for the parties that it hosts. A command for a contract is one row here. */
import { isScanError } from '@quorumscan/errors'
import {
  expireTransferCommand,
  isOf,
  payloadOf,
  refundPaymentCommand,
  subscriptionIdleState,
  subscriptionInitialPayment,
  subscriptionPayment,
  transferInstruction,
} from '@quorumscan/ledger'
import type { Contract, Micros } from '@quorumscan/model'
import { type Act, type JobDefinition, submittingJob, type WalletJobDeps } from './job.ts'

/** Submits the command that `commandFor` returns; null where no party that may act is hosted. */
function partyJob(
  name: string,
  commandFor: (contract: Contract, deps: WalletJobDeps) => Act | null,
) {
  return submittingJob({
    name,
    commandFor,
    async select(ids, deps) {
      const contracts = await deps.ledger.contracts(ids)
      return contracts.flatMap((contract) =>
        contract !== null && commandFor(contract, deps) !== null ? [contract.contractId] : [],
      )
    },
  })
}

/** A renewal that cannot be paid, or whose user may not act, is tried about this number of times in the rest of the window. */
const TRIES = 20
/** The minimum time between two tries. */
const RETRY_MS_MIN = 1_000
/** The maximum time between two tries: coin may arrive at any time. */
const RETRY_MS_MAX = 60_000

/**
 * Pays a renewal where auto-renewal is on and the coin suffices; due when its window opens (D-21). The super-validators
 * do the rest.
 */
const renewSubscription: JobDefinition<WalletJobDeps> = {
  name: 'renew-subscription',
  async select(idles, deps) {
    const hosted = (await deps.ledger.contracts(idles)).flatMap((contract) => {
      if (contract === null) return []
      const { subscriptionData, reference } = payloadOf(subscriptionIdleState, contract)
      const { contractId } = contract
      return deps.isHosted(subscriptionData.sender) ? [{ contractId, reference }] : []
    })
    const areRenewed = await deps.areAutoRenewed(hosted.map(({ reference }) => reference))
    return hosted.flatMap(({ contractId }, index) => (areRenewed[index] ? [contractId] : []))
  },
  async process(idle, deps) {
    const [contract] = await deps.ledger.contracts([idle])
    if (contract == null) return
    const { nextPaymentDueAt } = payloadOf(subscriptionIdleState, contract)
    const leftMicros = nextPaymentDueAt - deps.ledger.head().recordTime
    // The entry has expired: a payment would only be locked and given back.
    if (leftMicros <= 0) return
    try {
      const outcome = await deps.payRenewal(contract, deps.signal)
      // It waits for an administrator to give the user its right back.
      if (outcome === 'paused') deps.postponeBy(retryMs(leftMicros))
    } catch (error) {
      // It waits for coin.
      if (!isScanError(error, 'INSUFFICIENT_FUNDS', 'LIMIT_EXCEEDED')) throw error
      deps.postponeBy(retryMs(leftMicros))
    }
  },
}

/** How long to wait before the next try, with so much of the window left. */
export function retryMs(leftMicros: Micros): number {
  return Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, leftMicros / 1_000 / TRIES))
}

export const walletJobs: readonly JobDefinition<WalletJobDeps>[] = [
  renewSubscription,
  // Refunds a payment of a hosted party that was not collected; due when its lock ends.
  // So a party gets its coin back without a super-validator (D-23: any signatory may refund).
  partyJob('expire-payment', (contract, deps) => {
    const isInitial = isOf(subscriptionInitialPayment, contract)
    const template = isInitial ? subscriptionInitialPayment : subscriptionPayment
    const { sender: actor } = payloadOf(template, contract).subscriptionData
    const paymentKind = isInitial ? 'initial' : 'renewal'
    const command = refundPaymentCommand({ payment: contract.contractId, paymentKind, actor })
    return deps.isHosted(actor) ? { party: actor, command } : null
  }),
  // Returns the coin of an offer that was not accepted; due at its executeBefore.
  // No super-validator can do this: the coin of an offer belongs to its sender.
  partyJob('expire-offer', (contract, deps) => {
    const { sender, receiver } = payloadOf(transferInstruction, contract).transfer
    // Both may end it.
    const actor = [sender, receiver].find(deps.isHosted)
    if (actor === undefined) return null
    const command = expireTransferCommand({ instruction: contract.contractId, actor })
    return { party: actor, command }
  }),
]

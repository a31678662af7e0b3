import { isScanError } from '@quorumscan/errors'
import { payloadOf, subscriptionIdleState } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import type { JobDefinition, WalletDeps } from '../job.ts'
import { activeContract } from '../reads.ts'

/** A renewal that cannot be paid is tried some twenty times in what is left of the window … */
const TRIES = 20
/** … at most every second … */
const RETRY_MS_MIN = 1_000
/** … and at least once a minute: coin may come in at any time. */
const RETRY_MS_MAX = 60_000

/** Pays what its owner asked to have paid (D-21); the super-validators do the rest. */
export const renewSubscription: JobDefinition<WalletDeps> = {
  name: 'renew-subscription',
  doc: 'Pays a renewal where auto-renewal is on and the coin suffices; due when its window opens.',
  share: 'one',
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
    const contract = await activeContract(deps.ledger, idle)
    if (contract === null) return
    const { nextPaymentDueAt } = payloadOf(subscriptionIdleState, contract)
    const leftMicros = nextPaymentDueAt - deps.ledger.head().recordTime
    // The entry has expired: a payment would only be locked and given back.
    if (leftMicros <= 0) return
    try {
      await deps.payRenewal(contract, deps.signal)
    } catch (error) {
      const isTooPoor =
        isScanError(error, 'INSUFFICIENT_FUNDS') || isScanError(error, 'LIMIT_EXCEEDED')
      if (!isTooPoor) throw error
      deps.restFor(retryMs(leftMicros))
    }
  },
}

/** How long to wait before the next try, with so much of the window left. */
export function retryMs(leftMicros: Micros): number {
  return Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, leftMicros / 1_000 / TRIES))
}

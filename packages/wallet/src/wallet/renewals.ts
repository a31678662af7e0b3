/** Renewals that nobody has to ask for (D-21), and forgetting what was asked for names that are gone. */
import { payloadOf, subscriptionIdleState } from '@quorumscan/ledger'
import type { Contract, ContractId, UserId } from '@quorumscan/model'
import type { AutoRenewals } from '@quorumscan/users'
import { ownContract } from '../ledger.ts'
import { type SpendingDeps, spend } from './spending.ts'
import { renewalOf } from './subscriptions.ts'

type RenewalDeps = SpendingDeps & {
  readonly autoRenewals: AutoRenewals
  /** In whose name the automation submits. */
  readonly userId: UserId
}

/**
 * Pays a renewal in the owner's turn; nothing if auto-renewal was switched off before the turn came.
 *
 * @throws {ScanError} INSUFFICIENT_FUNDS, LIMIT_EXCEEDED; CONTRACT_NOT_FOUND if it was paid or ended
 *   meanwhile; what any submission can meet.
 */
export function payDueRenewal(
  deps: RenewalDeps,
  idle: Contract,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, autoRenewals, userId } = deps
  const { contractId } = idle
  const { reference, subscriptionData } = payloadOf(subscriptionIdleState, idle)
  const user = { userId, party: subscriptionData.sender }
  const prepare = async () => {
    await ownContract(ledger, 'SubscriptionIdleState', { user, contractId })
    return { ...(await renewalOf(ledger, idle)), commandId: `renew-subscription-${contractId}` }
  }
  return deps.queue.run(user.party, signal, async () => {
    const [isEnabled] = await autoRenewals.areEnabled([reference])
    if (isEnabled === true) await spend(deps, { user, prepare }, signal)
  })
}

/**
 * Forgets the wishes for subscriptions that ended. The replica must be live: one that is being rebuilt
 * does not know of all that there are.
 */
export async function forgetEndedRenewals(
  deps: Pick<RenewalDeps, 'ledger' | 'autoRenewals'>,
): Promise<void> {
  for await (const references of deps.autoRenewals.portions()) {
    const ended: ContractId[] = []
    // The request first: when it is gone, what came of it is there, and a reference that is gone stays so.
    const requests = await deps.ledger.contracts(references)
    for (const [index, reference] of references.entries()) {
      if (requests[index] !== null) continue
      const [successor] = await deps.ledger.contractsByKey(`reference:${reference}`, { limit: 1 })
      if (successor === undefined) ended.push(reference)
    }
    await deps.autoRenewals.forget(ended)
  }
}

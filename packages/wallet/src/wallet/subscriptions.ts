/** Subscriptions: listed, renewed by hand or automatically (D-21), cancelled. */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import {
  cancelSubscriptionCommand,
  isOf,
  type Ledger,
  makePaymentCommand,
  payloadOf,
  subscription,
  subscriptionIdleState,
  subscriptionPayment,
  toWireContract,
  type WireContract,
} from '@quorumscan/ledger'
import type { Contract, ContractId, UserId } from '@quorumscan/model'
import { type Logger, repeat } from '@quorumscan/runtime'
import type { AutoRenewals } from '@quorumscan/users'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import {
  type ContractCall,
  contractNotFound,
  findContract,
  joinedContractsOf,
  ownContract,
  resultContractId,
  submitAs,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import { coinForPayment, type Spending, type SpendingDeps, spend } from './spending.ts'

/** Subscriptions in order of creation, each idle or with a payment in progress. */
export async function listSubscriptions(
  deps: { readonly ledger: WalletLedger; readonly autoRenewals: AutoRenewals },
  user: WalletUser,
) {
  const templates = {
    subscriptions: subscription,
    idle: subscriptionIdleState,
    payments: subscriptionPayment,
  }
  const found = await joinedContractsOf(deps.ledger, templates, user.party)
  const stateById = new Map<ContractId, { idle: WireContract } | { payment: WireContract }>()
  for (const { contract, payload } of found.idle)
    stateById.set(payload.subscription, { idle: toWireContract(contract) })
  for (const { contract, payload } of found.payments)
    stateById.set(payload.subscription, { payment: toWireContract(contract) })
  const references = found.subscriptions.map(({ payload }) => payload.reference)
  const areRenewed = await deps.autoRenewals.areEnabled(references)
  return found.subscriptions.flatMap(({ contract }, index) => {
    const state = stateById.get(contract.contractId)
    if (state === undefined) return []
    const wire = toWireContract(contract)
    return [{ subscription: wire, state, auto_renew: areRenewed[index] === true }]
  })
}

/**
 * The Subscription, which no renewal changes.
 *
 * @throws {ScanError} CONTRACT_NOT_FOUND unless it is an active one that the user pays.
 */
async function ownSubscription(ledger: Ledger, input: ContractCall) {
  const contract = await ownContract(ledger, subscription, input)
  const { subscriptionData, reference } = payloadOf(subscription, contract)
  if (subscriptionData.sender !== input.user.party) throw contractNotFound(input.contractId)
  return { contractId: contract.contractId, reference }
}

/**
 * Switches auto-renewal on or off. It takes its turn among the party's operations, so that no renewal is
 * paid once "off" has been acknowledged.
 *
 * @throws {ScanError} CONTRACT_NOT_FOUND.
 */
export function setAutoRenew(
  deps: SpendingDeps & { readonly autoRenewals: AutoRenewals },
  input: ContractCall & { readonly isEnabled: boolean },
): Promise<void> {
  const { party } = input.user
  return deps.queue.run(party, input.signal, async () => {
    const { reference } = await ownSubscription(deps.ledger, input)
    await deps.autoRenewals.set({ reference, party, isEnabled: input.isEnabled })
  })
}

/**
 * Pays the next renewal of a Subscription, or the one of its SubscriptionIdleState, which is paid at most once.
 *
 * @returns The contract id of the SubscriptionPayment.
 * @throws {ScanError} CHOICE_REFUSED before the window has opened, after the due date, and while a payment
 *   is in progress (`details.payment_contract_id`); CONTRACT_NOT_FOUND; as `spend`.
 */
export function paySubscription(
  deps: SpendingDeps & { readonly now: () => number },
  input: ContractCall,
): Promise<ContractId> {
  const { user, signal } = input
  const prepare = async (): Promise<Spending> => {
    const idle = await findContract(deps.ledger, subscriptionIdleState, input)
    const named =
      idle === null ? input.contractId : payloadOf(subscriptionIdleState, idle).subscription
    const { contractId } = await ownSubscription(deps.ledger, { ...input, contractId: named })
    const [state] = await deps.ledger.contractsByKey(`subscription:${contractId}`, { limit: 1 })
    // The subscription ended between the two reads, or the named state did.
    if (state === undefined || (idle !== null && state.contractId !== idle.contractId))
      throw contractNotFound(input.contractId)
    if (!isOf(subscriptionIdleState, state))
      throw new ScanError('CHOICE_REFUSED', 'A payment of this subscription is in progress.', {
        details: { payment_contract_id: state.contractId },
      })
    assertInWindow(state, deps.now())
    return renewalOf(deps.ledger, state)
  }
  return deps.queue.run(user.party, signal, async () =>
    resultContractId(await spend(deps, { user, signal, prepare }), 'paymentCid'),
  )
}

/** A payment after the due date would only be locked and given back (D-22). */
function assertInWindow(idle: Contract, now: number): void {
  const { nextPaymentDueAt, payData } = payloadOf(subscriptionIdleState, idle)
  const opensAt = nextPaymentDueAt - payData.paymentDuration
  if (opensAt <= now && now < nextPaymentDueAt) return
  throw new ScanError(
    'CHOICE_REFUSED',
    now < opensAt
      ? `The renewal can be paid from ${formatTime(opensAt)} on.`
      : 'The renewal was due before, and the entry has expired.',
    {
      details: {
        window_opens_at: formatTime(opensAt),
        window_ends_at: formatTime(nextPaymentDueAt),
      },
    },
  )
}

/** The payment of the renewal of an idle subscription. */
export async function renewalOf(ledger: Ledger, idle: Contract): Promise<Spending> {
  return {
    needed: await coinForPayment(ledger, payloadOf(subscriptionIdleState, idle).payData),
    command: (inputs) => makePaymentCommand({ idle: idle.contractId, inputs }),
  }
}

/**
 * Cancels a subscription between payments, by its SubscriptionIdleState. The entry stays until it expires.
 *
 * @throws {ScanError} CONTRACT_NOT_FOUND unless it is the user's, and idle.
 */
export function cancelSubscription(deps: SpendingDeps, input: ContractCall): Promise<void> {
  const { user, signal, contractId } = input
  return deps.queue.run(user.party, signal, async () => {
    await ownContract(deps.ledger, subscriptionIdleState, input)
    await submitAs(deps, input, { command: cancelSubscriptionCommand({ idle: contractId }) })
  })
}

type RenewalDeps = SpendingDeps & {
  readonly autoRenewals: AutoRenewals
  /** The user of the submissions. */
  readonly userId: UserId
}

/**
 * Pays a renewal in the owner's turn; nothing if auto-renewal was switched off before the turn came.
 *
 * @throws {ScanError} INSUFFICIENT_FUNDS, LIMIT_EXCEEDED; CONTRACT_NOT_FOUND if it was paid or ended
 *   meanwhile; as any submission.
 */
export function payDueRenewal(deps: RenewalDeps, idle: Contract, signal: AbortSignal) {
  const { ledger, autoRenewals, userId } = deps
  const { contractId } = idle
  const { reference, subscriptionData } = payloadOf(subscriptionIdleState, idle)
  const user = { userId, party: subscriptionData.sender }
  const prepare = async () => {
    await ownContract(ledger, subscriptionIdleState, { user, contractId })
    return { ...(await renewalOf(ledger, idle)), commandId: `renew-subscription-${contractId}` }
  }
  return deps.queue.run(user.party, signal, async () => {
    const [isEnabled] = await autoRenewals.areEnabled([reference])
    if (isEnabled === true) await spend(deps, { user, signal, prepare })
  })
}

/** The period of the clean-up. A preference for an ended name takes some 200 bytes and has no effect. */
const FORGET_MS = 3_600_000
/** The pause between checks whether the replica is live. */
const LIVE_CHECK_MS = 500

/** Deletes the preferences for subscriptions that ended, until it is disposed of. */
export function deleteEndedRenewalsPeriodically(
  deps: Pick<RenewalDeps, 'ledger' | 'autoRenewals'> & {
    readonly isLive: () => boolean
    readonly clock: Clock
    readonly logger: Logger
  },
): AsyncDisposable {
  let wasLive = false
  const work = async (): Promise<void> => {
    wasLive = deps.isLive()
    if (wasLive) await forgetEndedRenewals(deps)
  }
  return repeat(work, {
    clock: deps.clock,
    everyMs: () => (wasLive ? FORGET_MS : LIVE_CHECK_MS),
    onError: (err) => deps.logger.info({ err }, 'ended renewals could not be deleted'),
  })
}

/**
 * Deletes the preferences for subscriptions that ended. The replica must be live: one that is being rebuilt does not
 * know all subscriptions.
 */
export async function forgetEndedRenewals(deps: Pick<RenewalDeps, 'ledger' | 'autoRenewals'>) {
  for await (const references of deps.autoRenewals.portions()) {
    const ended: ContractId[] = []
    // The request first: when it is archived, its successor exists already, and an ended reference stays ended.
    const requests = await deps.ledger.contracts(references)
    for (const [index, reference] of references.entries()) {
      if (requests[index] !== null) continue
      const [successor] = await deps.ledger.contractsByKey(`reference:${reference}`, { limit: 1 })
      if (successor === undefined) ended.push(reference)
    }
    await deps.autoRenewals.forget(ended)
  }
}

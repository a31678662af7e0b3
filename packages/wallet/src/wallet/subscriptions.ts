/** Subscriptions: shown, renewed by hand or by themselves, cancelled. */
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
import type { Contract, ContractId } from '@quorumscan/model'
import type { AutoRenewals } from '@quorumscan/users'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import {
  contractNotFound,
  joinedContractsOf,
  type OfContract,
  ownContract,
  resultContractId,
  submitAs,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import { coinForPayment, type Spending, type SpendingDeps, spend } from './spending.ts'

/** Subscriptions in order of creation, each idle or with a payment under way. */
export async function listSubscriptions(
  deps: { readonly ledger: WalletLedger; readonly autoRenewals: AutoRenewals },
  user: WalletUser,
) {
  const kinds = ['Subscription', 'SubscriptionIdleState', 'SubscriptionPayment'] as const
  const { contracts } = await joinedContractsOf(deps.ledger, kinds, user.party)
  const idleOf = (contract: Contract) => payloadOf(subscriptionIdleState, contract)
  const paymentOf = (contract: Contract) => payloadOf(subscriptionPayment, contract)
  const stateById = new Map<ContractId, { idle: WireContract } | { payment: WireContract }>()
  for (const contract of contracts.SubscriptionIdleState)
    stateById.set(idleOf(contract).subscription, { idle: toWireContract(contract) })
  for (const contract of contracts.SubscriptionPayment)
    stateById.set(paymentOf(contract).subscription, { payment: toWireContract(contract) })
  const areRenewed = await deps.autoRenewals.areEnabled(contracts.Subscription.map(referenceOf))
  return contracts.Subscription.flatMap((contract, index) => {
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
async function ownSubscription(ledger: Ledger, input: OfContract): Promise<Contract> {
  const found = await ownContract(ledger, 'Subscription', input)
  const { sender } = payloadOf(subscription, found).subscriptionData
  if (sender !== input.user.party) throw contractNotFound(input.contractId)
  return found
}

function referenceOf(contract: Contract): ContractId {
  return payloadOf(subscription, contract).reference
}

/**
 * Switches auto-renewal on or off. It takes its turn among the party's operations, so that no renewal is
 * paid once "off" has been acknowledged.
 *
 * @throws {ScanError} CONTRACT_NOT_FOUND.
 */
export function setAutoRenew(
  deps: SpendingDeps & { readonly autoRenewals: AutoRenewals },
  input: OfContract & { readonly isEnabled: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { party } = input.user
  return deps.queue.run(party, signal, async () => {
    const reference = referenceOf(await ownSubscription(deps.ledger, input))
    await deps.autoRenewals.set({ reference, party, isEnabled: input.isEnabled })
  })
}

/**
 * Pays the next renewal.
 *
 * @returns The contract id of the SubscriptionPayment.
 * @throws {ScanError} CHOICE_REFUSED before the window has opened, after the due date, and while a payment
 *   is under way (`details.payment_contract_id`); CONTRACT_NOT_FOUND; as `spend`.
 */
export function paySubscription(
  deps: SpendingDeps & { readonly now: () => number },
  input: OfContract,
  signal: AbortSignal,
): Promise<ContractId> {
  const { user } = input
  const prepare = async (): Promise<Spending> => {
    const { contractId } = await ownSubscription(deps.ledger, input)
    const [state] = await deps.ledger.contractsByKey(`subscription:${contractId}`, { limit: 1 })
    // It ended between the two reads.
    if (state === undefined) throw contractNotFound(contractId)
    if (!isOf(subscriptionIdleState, state))
      throw new ScanError('CHOICE_REFUSED', 'A payment of this subscription is under way.', {
        details: { payment_contract_id: state.contractId },
      })
    demandInWindow(state, deps.now())
    return renewalOf(deps.ledger, state)
  }
  return deps.queue.run(user.party, signal, async () =>
    resultContractId(await spend(deps, { user, prepare }, signal), 'paymentCid'),
  )
}

/** A payment after the due date would only be locked and given back (D-22). */
function demandInWindow(idle: Contract, now: number): void {
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

/** What paying the renewal of an idle subscription takes. */
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
export function cancelSubscription(
  deps: SpendingDeps,
  input: OfContract,
  signal: AbortSignal,
): Promise<void> {
  const { user, contractId } = input
  return deps.queue.run(user.party, signal, async () => {
    await ownContract(deps.ledger, 'SubscriptionIdleState', input)
    await submitAs(deps, user, { command: cancelSubscriptionCommand({ idle: contractId }) }, signal)
  })
}

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
  findContract,
  joinedContractsOf,
  type WalletLedger,
} from '../ledger/contracts.ts'
import { resultContractId } from '../ledger/results.ts'
import type { WalletUser } from '../users/wallet-user.ts'
import { coinForPayment, type Spending, type SpendingDeps, spend } from './spending.ts'

/** Subscriptions in order of creation, each idle or with a payment under way. */
export async function listSubscriptions(
  deps: { readonly ledger: WalletLedger; readonly autoRenewals: AutoRenewals },
  user: WalletUser,
) {
  const kinds = ['Subscription', 'SubscriptionIdleState', 'SubscriptionPayment'] as const
  const { contracts } = await joinedContractsOf(deps.ledger, kinds, user.party)
  const stateById = new Map<ContractId, { idle: WireContract } | { payment: WireContract }>()
  for (const contract of contracts.SubscriptionIdleState)
    stateById.set(payloadOf(subscriptionIdleState, contract).subscription, {
      idle: toWireContract(contract),
    })
  for (const contract of contracts.SubscriptionPayment)
    stateById.set(payloadOf(subscriptionPayment, contract).subscription, {
      payment: toWireContract(contract),
    })
  const areRenewed = await deps.autoRenewals.areEnabled(contracts.Subscription.map(referenceOf))
  return contracts.Subscription.flatMap((contract, index) => {
    const state = stateById.get(contract.contractId)
    if (state === undefined) return []
    const wire = toWireContract(contract)
    return [{ subscription: wire, state, auto_renew: areRenewed[index] === true }]
  })
}

type SubscriptionInput = {
  readonly user: WalletUser
  /** Of the Subscription, which no renewal changes. */
  readonly contractId: ContractId
}

/** @throws {ScanError} CONTRACT_NOT_FOUND unless it is an active one that the user pays. */
async function ownSubscription(ledger: Ledger, input: SubscriptionInput): Promise<Contract> {
  const { user, contractId } = input
  const found = await findContract(ledger, 'Subscription', { party: user.party, contractId })
  if (found === null || payloadOf(subscription, found).subscriptionData.sender !== user.party)
    throw contractNotFound(contractId)
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
  input: SubscriptionInput & { readonly isEnabled: boolean },
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
  input: SubscriptionInput,
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
 * Cancels a subscription between payments. The entry stays until it expires.
 *
 * @throws {ScanError} CONTRACT_NOT_FOUND unless it is the user's, and idle.
 */
export function cancelSubscription(
  deps: SpendingDeps,
  input: {
    readonly user: WalletUser
    /** Of the SubscriptionIdleState. */
    readonly contractId: ContractId
  },
  signal: AbortSignal,
): Promise<void> {
  const { user, contractId } = input
  const { party } = user
  return deps.queue.run(party, signal, async () => {
    const idle = await findContract(deps.ledger, 'SubscriptionIdleState', { party, contractId })
    if (idle === null) throw contractNotFound(contractId)
    await deps.commander.submit(
      {
        userId: user.userId,
        actAs: [party],
        commands: [cancelSubscriptionCommand({ idle: contractId })],
      },
      signal,
    )
  })
}

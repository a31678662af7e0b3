/** Requests for payment: shown, accepted, rejected. */
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  acceptRequestCommand,
  type Ledger,
  payloadOf,
  rejectRequestCommand,
  subscriptionRequest,
} from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { AutoRenewals } from '@quorumscan/users'
import { resultContractId } from '../ledger/commander.ts'
import {
  contractNotFound,
  contractsOf,
  findContract,
  toWireContract,
  type WireContract,
} from '../ledger/contracts.ts'
import type { WalletUser } from '../users/wallet-user.ts'
import { coinForPayment, type SpendingDeps, spend } from './spending.ts'

type RequestInput = { readonly user: WalletUser; readonly contractId: ContractId }

/**
 * An open request to the user.
 *
 * @throws {ScanError} CONTRACT_CONSUMED if it was the user's and is answered, CONTRACT_NOT_FOUND if not.
 */
async function openRequest(ledger: Ledger, input: RequestInput): Promise<Contract> {
  const { contractId, user } = input
  const request = await findContract(ledger, 'SubscriptionRequest', {
    party: user.party,
    contractId,
  })
  if (request !== null) return request
  const answers = await ledger.contractsByKey(`reference:${contractId}`)
  const answer = answers.find((contract) => contract.signatories.includes(user.party))
  if (answer === undefined) throw contractNotFound(contractId)
  throw new ScanError(
    'CONTRACT_CONSUMED',
    'The subscription request was accepted, rejected or withdrawn before.',
    { details: { contract_id: contractId, successor: answer.contractId } },
  )
}

/** @throws {ScanError} CONTRACT_NOT_FOUND. */
export async function getRequest(ledger: Ledger, input: RequestInput): Promise<WireContract> {
  const request = await findContract(ledger, 'SubscriptionRequest', {
    party: input.user.party,
    contractId: input.contractId,
  })
  if (request === null) throw contractNotFound(input.contractId)
  return toWireContract(request)
}

export async function listRequests(ledger: Ledger, user: WalletUser): Promise<WireContract[]> {
  return (await contractsOf(ledger, 'SubscriptionRequest', user.party)).map(toWireContract)
}

export async function listInitialPayments(
  ledger: Ledger,
  user: WalletUser,
): Promise<WireContract[]> {
  return (await contractsOf(ledger, 'SubscriptionInitialPayment', user.party)).map(toWireContract)
}

/**
 * Accepts a request and locks the coin of its first payment.
 *
 * Whether to renew is stored first, under the id of the request, which the Subscription keeps as its
 * `reference` for life: whatever dies after the payment is in the log, the owner's wish is known (D-21).
 *
 * @returns The contract id of the SubscriptionInitialPayment.
 * @throws {ScanError} As `spend`; CONTRACT_NOT_FOUND, CONTRACT_CONSUMED.
 */
export function acceptRequest(
  deps: SpendingDeps & { readonly autoRenewals: AutoRenewals },
  input: RequestInput & { readonly isAutoRenewed: boolean },
  signal: AbortSignal,
): Promise<ContractId> {
  const { ledger } = deps
  const { user, contractId } = input
  const prepare = async () => {
    const request = await openRequest(ledger, input)
    return {
      needed: await coinForPayment(ledger, payloadOf(subscriptionRequest, request).payData),
      command: (inputs: readonly ContractId[]) =>
        acceptRequestCommand({ request: contractId, inputs }),
      // Upstream's command id: however often it is accepted, it is paid once.
      commandId: `acceptSubscriptionRequest-${contractId}`,
    }
  }
  return deps.queue.run(user.party, signal, async () => {
    await openRequest(ledger, input)
    const restore = await setAutoRenewal(deps.autoRenewals, input)
    try {
      return resultContractId(await spend(deps, { user, prepare }, signal), 'paymentCid')
    } catch (error) {
      // An acceptance that may still take effect keeps what was asked with it.
      if (isScanError(error) && error.spec.definite) await restore()
      throw error
    }
  })
}

/** Returns the way back to what was stored before. */
async function setAutoRenewal(
  autoRenewals: AutoRenewals,
  input: RequestInput & { readonly isAutoRenewed: boolean },
): Promise<() => Promise<void>> {
  const { contractId: reference, isAutoRenewed } = input
  const { party } = input.user
  const [wasEnabled = false] = await autoRenewals.areEnabled([reference])
  if (wasEnabled === isAutoRenewed) return async () => {}
  await autoRenewals.set({ reference, party, isEnabled: isAutoRenewed })
  return () => autoRenewals.set({ reference, party, isEnabled: wasEnabled })
}

/** @throws {ScanError} As `acceptRequest`, funds apart. */
export function rejectRequest(
  deps: SpendingDeps,
  input: RequestInput,
  signal: AbortSignal,
): Promise<void> {
  const { user, contractId } = input
  return deps.queue.run(user.party, signal, async () => {
    await openRequest(deps.ledger, input)
    await deps.commander.submit(
      {
        userId: user.userId,
        actAs: [user.party],
        commands: [rejectRequestCommand({ request: contractId })],
      },
      signal,
    )
  })
}

/** Accepts and rejects requests for payment. */
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  acceptRequestCommand,
  payloadOf,
  rejectRequestCommand,
  subscriptionRequest,
} from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { AutoRenewals } from '@quorumscan/users'
import {
  type ContractCall,
  contractNotFound,
  findContract,
  type OperationDeps,
  resultContractId,
  submissionOf,
  submitAs,
} from '../ledger.ts'
import { coinForPayment, type SpendingDeps, spend } from './spending.ts'
import { renewalBy } from './subscriptions.ts'

/** Command ids, the first of them upstream's: however often a request is accepted, it is paid once. */
const acceptId = (request: ContractId) => `acceptSubscriptionRequest-${request}`
const rejectId = (request: ContractId) => `rejectSubscriptionRequest-${request}`

/**
 * An open request to the user.
 *
 * @throws {ScanError} CONTRACT_CONSUMED if it was the user's and is answered, CONTRACT_NOT_FOUND if not.
 */
async function openRequest(deps: OperationDeps, input: ContractCall): Promise<Contract> {
  const { contractId, user } = input
  const { party } = user
  const request = await findContract(deps.ledger, subscriptionRequest, input)
  if (request !== null) return request
  const successors = await deps.ledger.contractsByKey(`reference:${contractId}`)
  const successor = successors.find((contract) => contract.signatories.includes(party))
  if (successor === undefined && !(await wasAnswered(deps, input)))
    throw contractNotFound(contractId)
  throw new ScanError(
    'CONTRACT_CONSUMED',
    'The subscription request was accepted, rejected or withdrawn before.',
    { details: { contract_id: contractId, successor: successor?.contractId ?? null } },
  )
}

/** Whether the user answered a request without a successor. The ledger remembers commands for some time. */
async function wasAnswered(deps: OperationDeps, input: ContractCall): Promise<boolean> {
  const { user, contractId } = input
  const command = rejectRequestCommand({ request: contractId })
  const refusals = await Promise.all(
    [acceptId(contractId), rejectId(contractId)].map((commandId) =>
      deps.submitter.dryRun(submissionOf(user, { command, commandId })),
    ),
  )
  return refusals.some((refusal) => refusal?.code === 'DUPLICATE_COMMAND')
}

/**
 * Accepts a request and locks the coin of its first payment.
 *
 * Whether to renew is stored first, under the id of the request, which stays the `reference` of the
 * Subscription. So the owner's preference is known after any crash once the payment is in the log (D-21).
 *
 * @returns The contract id of the SubscriptionInitialPayment.
 * @throws {ScanError} As `spend`; CONTRACT_NOT_FOUND, CONTRACT_CONSUMED.
 */
export function acceptRequest(
  deps: SpendingDeps & { readonly autoRenewals: AutoRenewals },
  input: ContractCall & { readonly isAutoRenewed: boolean },
): Promise<ContractId> {
  const { ledger } = deps
  const { user, signal, contractId } = input
  const prepare = async () => {
    const request = await openRequest(deps, input)
    return {
      needed: await coinForPayment(ledger, payloadOf(subscriptionRequest, request).payData),
      command: (inputs: readonly ContractId[]) =>
        acceptRequestCommand({ request: contractId, inputs }),
      commandId: acceptId(contractId),
    }
  }
  return deps.queue.run(user.party, signal, async () => {
    await openRequest(deps, input)
    const restore = await setAutoRenewal(deps.autoRenewals, input)
    try {
      return resultContractId(await spend(deps, { user, signal, prepare }), 'paymentCid')
    } catch (error) {
      // An acceptance that may still take effect keeps its preference.
      if (isScanError(error) && error.spec.definite) await restore()
      throw error
    }
  })
}

/** Returns a function that restores what was stored before. */
async function setAutoRenewal(
  autoRenewals: AutoRenewals,
  input: ContractCall & { readonly isAutoRenewed: boolean },
): Promise<() => Promise<void>> {
  const { contractId: reference, isAutoRenewed, user } = input
  const [before = null] = await autoRenewals.find([reference])
  if (before === null && !isAutoRenewed) return async () => {}
  await autoRenewals.set(reference, isAutoRenewed ? renewalBy(user) : null)
  return () => autoRenewals.set(reference, before)
}

/** @throws {ScanError} As `acceptRequest`, except INSUFFICIENT_FUNDS. */
export function rejectRequest(deps: SpendingDeps, input: ContractCall): Promise<void> {
  const { user, signal, contractId } = input
  return deps.queue.run(user.party, signal, async () => {
    await openRequest(deps, input)
    const command = rejectRequestCommand({ request: contractId })
    await submitAs(deps, input, { command, commandId: rejectId(contractId) })
  })
}

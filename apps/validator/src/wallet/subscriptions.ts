/** Requests for payment and the subscriptions that came of them. */
import { isScanError, ScanError } from '@quorumscan/errors'
import {
  acceptRequestCommand,
  type Ledger,
  payloadOf,
  rejectRequestCommand,
  subscriptionIdleState,
  subscriptionPayment,
  subscriptionRequest,
} from '@quorumscan/ledger'
import { type Amount, type Contract, type ContractId, ceilDivide } from '@quorumscan/model'
import { type Commander, resultContractId } from '../ledger/commander.ts'
import {
  contractNotFound,
  contractsOf,
  findContract,
  toWireContract,
  type WireContract,
} from '../ledger/contracts.ts'
import { newestRound } from '../ledger/rules.ts'
import type { WalletUser } from '../users/wallet-user.ts'
import { selectCoins } from './coin-selection.ts'
import { spendableCoins } from './coins.ts'
import type { PartyQueue } from './party-queue.ts'

/** Coins can be spent through the ledger interface meanwhile; each try chooses from what is left. */
const ACCEPT_ATTEMPTS_MAX = 3

export type SubscriptionDeps = {
  readonly ledger: Ledger
  readonly commander: Commander
  readonly queue: PartyQueue
}

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

/**
 * Accepts a request and locks the coin of its first payment; one operation of a party at a time, so that
 * two do not choose the same coins.
 *
 * @returns The contract id of the SubscriptionInitialPayment.
 * @throws {ScanError} INSUFFICIENT_FUNDS (`details`: needed, available), CONTRACT_NOT_FOUND,
 *   CONTRACT_CONSUMED, and what any submission can meet.
 */
export function acceptRequest(
  deps: SubscriptionDeps,
  input: RequestInput,
  signal: AbortSignal,
): Promise<ContractId> {
  const { ledger, commander } = deps
  const { user, contractId } = input
  return deps.queue.run(user.party, signal, async () => {
    for (let attempt = 1; ; attempt++) {
      const request = await openRequest(ledger, input)
      const [needed, coins] = await Promise.all([
        coinForPayment(ledger, request),
        spendableCoins(ledger, user.party),
      ])
      const inputs = selectCoins(coins, needed)
      try {
        const update = await commander.submit(
          {
            userId: user.userId,
            actAs: [user.party],
            commands: [acceptRequestCommand({ request: contractId, inputs })],
            // Upstream's command id: however often it is accepted, it is paid once.
            commandId: `acceptSubscriptionRequest-${contractId}`,
          },
          signal,
        )
        return resultContractId(update, 'paymentCid')
      } catch (error) {
        // Either the request is gone, which the next look at it says, or a coin is.
        const isGone =
          isScanError(error, 'CONTRACT_CONSUMED') || isScanError(error, 'CONTRACT_NOT_FOUND')
        if (!isGone || attempt >= ACCEPT_ATTEMPTS_MAX) throw error
      }
    }
  })
}

async function coinForPayment(ledger: Ledger, request: Contract): Promise<Amount> {
  const { amount, unit } = payloadOf(subscriptionRequest, request).payData.paymentAmount
  if (unit === 'CoinUnit') return amount
  return ceilDivide(amount, (await newestRound(ledger)).price)
}

/** @throws {ScanError} As `acceptRequest`, funds apart. */
export function rejectRequest(
  deps: SubscriptionDeps,
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

export async function listRequests(ledger: Ledger, user: WalletUser): Promise<WireContract[]> {
  return (await contractsOf(ledger, 'SubscriptionRequest', user.party)).map(toWireContract)
}

export async function listInitialPayments(
  ledger: Ledger,
  user: WalletUser,
): Promise<WireContract[]> {
  return (await contractsOf(ledger, 'SubscriptionInitialPayment', user.party)).map(toWireContract)
}

export type SubscriptionView = {
  subscription: WireContract
  state: { idle: WireContract } | { payment: WireContract }
}

/** Subscriptions in order of creation, each idle or with a payment under way. */
export async function listSubscriptions(
  ledger: Ledger,
  user: WalletUser,
): Promise<SubscriptionView[]> {
  const [subscriptions, idles, payments] = await Promise.all([
    contractsOf(ledger, 'Subscription', user.party),
    contractsOf(ledger, 'SubscriptionIdleState', user.party),
    contractsOf(ledger, 'SubscriptionPayment', user.party),
  ])
  const stateById = new Map<ContractId, SubscriptionView['state']>([
    ...idles.map(
      (contract) =>
        [
          payloadOf(subscriptionIdleState, contract).subscription,
          { idle: toWireContract(contract) },
        ] as const,
    ),
    ...payments.map(
      (contract) =>
        [
          payloadOf(subscriptionPayment, contract).subscription,
          { payment: toWireContract(contract) },
        ] as const,
    ),
  ])
  return subscriptions.flatMap((contract) => {
    const state = stateById.get(contract.contractId)
    return state === undefined ? [] : [{ subscription: toWireContract(contract), state }]
  })
}

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
  toWireContract,
} from '@quorumscan/ledger'
import type { Contract, ContractId, PartyId, UserId } from '@quorumscan/model'
import { type Logger, type Metrics, repeat } from '@quorumscan/runtime'
import type { AutoRenewal, AutoRenewals, ValidatorStore } from '@quorumscan/users'
import { formatInstant } from '@quorumscan/verifier'
import {
  type ContractCall,
  contractNotFound,
  findContract,
  ownContract,
  resultContractId,
  submitAs,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import { type PageQuery, readListPage } from './list-page.ts'
import { pausedRenewals } from './renewal-users.ts'
import { coinForPayment, type Spending, type SpendingDeps, spend } from './spending.ts'

/** A page of the subscriptions of the user, the newest first, each idle or with a payment in progress. */
export async function listSubscriptions(
  deps: RenewalRights & { readonly ledger: WalletLedger; readonly autoRenewals: AutoRenewals },
  { party }: Pick<WalletUser, 'party'>,
  request: PageRequest,
) {
  const page = await readSubscriptions(deps.ledger, party, request)
  const references = page.subscriptions.map(({ contract }) => referenceOf(contract))
  const areRenewed = await areRunning(deps, await deps.autoRenewals.find(references))
  const subscriptions = page.subscriptions.map(({ contract, state }, index) => {
    const wire = toWireContract(state)
    return {
      subscription: toWireContract(contract),
      state: isOf(subscriptionIdleState, state) ? { idle: wire } : { payment: wire },
      auto_renew: areRenewed[index] === true,
    }
  })
  return { subscriptions, next_page_token: page.nextPageToken }
}

/** A request for a page of a list. */
export type PageRequest = {
  readonly query: PageQuery
  /** Counts the contracts that were read. */
  countRows(rows: number): void
}

/**
 * A page of the subscriptions of a party, the newest first, with their states. A subscription has one state at each
 * moment, under one key, so that no state is missed between two reads.
 *
 * @throws {ScanError} INVALID_PAGE_TOKEN.
 */
export async function readSubscriptions(
  ledger: Pick<WalletLedger, 'contractsByKeys' | 'listContracts'>,
  party: PartyId,
  request: PageRequest,
) {
  const { query } = request
  const { contracts, nextPageToken } = await readListPage(ledger, {
    templates: [subscription],
    party,
    query,
  })
  const keys = contracts.map(({ contractId }) => `subscription:${contractId}`)
  const states = await ledger.contractsByKeys(keys, { limit: 1 })
  const subscriptions = contracts.flatMap((contract, index) => {
    const state = states.contracts[index]?.[0]
    return state === undefined ? [] : [{ contract, state }]
  })
  request.countRows(contracts.length + subscriptions.length)
  return { subscriptions, nextPageToken }
}

/** The id of the request from which the subscription was made. */
export function referenceOf(contract: Contract): ContractId {
  return payloadOf(subscription, contract).reference
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
  deps: Pick<SpendingDeps, 'ledger' | 'queue'> & { readonly autoRenewals: AutoRenewals },
  input: ContractCall & { readonly isEnabled: boolean },
): Promise<void> {
  const { party } = input.user
  return deps.queue.run(party, input.signal, async () => {
    const { reference } = await ownSubscription(deps.ledger, input)
    await deps.autoRenewals.set(reference, input.isEnabled ? renewalBy(input.user) : null)
  })
}

/** A renewal that this user switches on. */
export function renewalBy({ userId, party }: WalletUser): AutoRenewal {
  return { party, user: userId }
}

/** The rights of users now. */
export type RenewalRights = {
  /** Whether the user exists, is active, and may act as these parties. */
  readonly mayAct: (userId: UserId, actAs: readonly PartyId[]) => Promise<boolean>
}

/** In the order of the renewals of one party. One is paused while its user may not act. */
async function areRunning(
  { mayAct }: RenewalRights,
  renewals: readonly (AutoRenewal | null)[],
): Promise<readonly boolean[]> {
  const mayActByUser = new Map<UserId, Promise<boolean>>()
  const isRunning = async (renewal: AutoRenewal | null): Promise<boolean> => {
    if (renewal === null) return false
    const { user, party } = renewal
    // That of any user who may act, such as the one who asks.
    if (user === null) return true
    const asked = mayActByUser.get(user) ?? mayAct(user, [party])
    mayActByUser.set(user, asked)
    return await asked
  }
  return await Promise.all(renewals.map(isRunning))
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
      ? `The renewal can be paid from ${formatInstant(opensAt)} on.`
      : 'The renewal was due before, and the entry has expired.',
    {
      details: {
        window_opens_at: formatInstant(opensAt),
        window_ends_at: formatInstant(nextPaymentDueAt),
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
  /** The user whose work the renewal is; null: it is paused. */
  readonly userOf: (renewal: AutoRenewal) => Promise<UserId | null>
}

/**
 * Pays a renewal in the owner's turn, as the user who switched it on; nothing if auto-renewal was switched off before
 * the turn came, and nothing while it is paused.
 *
 * @throws {ScanError} INSUFFICIENT_FUNDS, LIMIT_EXCEEDED; CONTRACT_NOT_FOUND if it was paid or ended meanwhile; as any
 *   submission.
 */
export function payDueRenewal(
  deps: RenewalDeps,
  idle: Contract,
  signal: AbortSignal,
): Promise<'done' | 'paused'> {
  const { ledger, autoRenewals } = deps
  const { contractId } = idle
  const { reference, subscriptionData } = payloadOf(subscriptionIdleState, idle)
  const { sender: party } = subscriptionData
  return deps.queue.run(party, signal, async () => {
    const [renewal = null] = await autoRenewals.find([reference])
    if (renewal === null) return 'done'
    const userId = await deps.userOf(renewal)
    if (userId === null) return 'paused'
    const user = { userId, party }
    const prepare = async () => {
      await ownContract(ledger, subscriptionIdleState, { user, contractId })
      return { ...(await renewalOf(ledger, idle)), commandId: `renew-subscription-${contractId}` }
    }
    await spend(deps, { user, signal, prepare })
    return 'done'
  })
}

/** The period of the clean-up. A preference for an ended name takes some 200 bytes and has no effect. */
const MAINTAIN_MS = 3_600_000
/** The pause between checks whether the replica is live. */
const LIVE_CHECK_MS = 500

type LiveLedger = Pick<Ledger, 'contracts' | 'contractsByKey'>

/** Deletes the preferences for subscriptions that ended, and counts the paused ones, until it is disposed of. */
export function maintainRenewals(deps: {
  readonly ledger: LiveLedger
  readonly store: Pick<ValidatorStore, 'autoRenewals' | 'parties' | 'users'>
  readonly isLive: () => boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}): AsyncDisposable {
  const { ledger, store, logger } = deps
  let pausedCount: number | null = null
  deps.metrics.sampled('gauge', {
    name: 'renewals_paused',
    help: 'Automatic renewals that are paused because their users may not act, counted once an hour.',
    read: () => (pausedCount === null ? [] : [[[], pausedCount]]),
  })
  const countPaused = async (): Promise<void> => {
    let count = 0
    for await (const _ of pausedRenewals(store)) count++
    if (count > (pausedCount ?? 0))
      logger.warn(
        { count },
        'automatic renewals are paused because their users may not act, and their names will expire: see `quorumscan jobs list`',
      )
    pausedCount = count
  }
  let wasLive = false
  const work = async (): Promise<void> => {
    wasLive = deps.isLive()
    if (!wasLive) return
    await forgetEndedRenewals({ ledger, autoRenewals: store.autoRenewals })
    await countPaused()
  }
  return repeat(work, {
    clock: deps.clock,
    everyMs: () => (wasLive ? MAINTAIN_MS : LIVE_CHECK_MS),
    onError: (err) => logger.info({ err }, 'ended renewals could not be deleted'),
  })
}

/**
 * Deletes the preferences for subscriptions that ended. The replica must be live: one that is being rebuilt does not
 * know all subscriptions.
 */
export async function forgetEndedRenewals(
  deps: Pick<RenewalDeps, 'autoRenewals'> & { readonly ledger: LiveLedger },
) {
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

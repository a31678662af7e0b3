/** The wallet of the token's user (D-20, D-21). Amounts are decimal texts: `addAmounts`, `compareAmounts`. */

import { failure } from '../errors.ts'
import type { components } from '../generated/answers.ts'
import * as answers from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import { isParty, type Party } from '../platform/party.ts'
import { randomId } from '../platform/random.ts'
import type { ContractId } from '../platform/values.ts'
import { allPages, endless, type PageRequest, readPages } from './all-pages.ts'
import { type Balance, readBalance } from './balance.ts'
import { type CallOptions, type Check, type Query, readWallet } from './wallet-reads.ts'

export type { Balance } from './balance.ts'
export type { CallOptions } from './wallet-reads.ts'

type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** A contract: ids, payload as Daml-LF JSON, and `createdAt` (ISO-8601 UTC). */
export type Contract = Schema<'Contract'>
/** `partyId` is empty until the user has a party. */
export type UserStatus = Omit<Schema<'UserStatusAnswer'>, 'partyId'> & {
  readonly partyId: Party | ''
}
/** The contracts behind the balance. */
export type Coins = Pick<Schema<'CoinsAnswer'>, 'coins' | 'lockedCoins'>
/** Pays for a name. `state` is `{idle}` or, while a payment is in progress, `{payment}`. */
export type Subscription = Schema<'SubscriptionsAnswer'>['subscriptions'][number]
/** A row of the wallet's history; what it has depends on `transactionType`. A `party` is null if the text is not a party. */
export type Transaction = Schema<'TransactionsAnswer'>['items'][number]
/** The state of a transfer. */
export type TransferResult = Schema<'TransferAnswer'>

/** A ledger offset at which reads include the effect of the call. */
export type AtOffset = { readonly offset: number }

/** Which contracts of a list a call returns. */
export type ListOptions = CallOptions & {
  /** The newest first, or the largest amount first. Default: `newest`. */
  readonly order?: 'newest' | 'amount'
  /** The largest number of contracts. Default: 1000. The call reads as many pages as they need. */
  readonly limit?: number
}

/**
 * Coin and subscriptions of the token's user.
 *
 * Each call throws QuorumscanError: UNAUTHENTICATED, WALLET_NOT_FOUND while the user has no party, TIMEOUT, NETWORK_ERROR,
 * and errors of the validator. `definite: true` means that the call certainly had no effect.
 */
export interface Wallet {
  /**
   * The user's party. The first call gives the user one; later calls return the same. `names.register` and `payments` do
   * this themselves.
   */
  party(options?: CallOptions): Promise<Party>
  /** Whether the user has a party, and which. */
  status(options?: CallOptions): Promise<UserStatus>
  /** Spendable and locked coin. */
  balance(options?: CallOptions): Promise<Balance>
  /** Coin contracts, with locked ones in a list of their own. `limit` is of both together. */
  coins(options?: ListOptions): Promise<Coins>
  /**
   * Creates coin, in a development network.
   *
   * @param input.usd - What the coin is worth: an amount of USD, as a decimal text such as `10.0`.
   * @param input.commandId - Repeated calls with the same id create coin once. Default: a new id.
   */
  tap(
    input: { readonly usd: string; readonly commandId?: string } & CallOptions,
  ): Promise<{ readonly contractId: ContractId } & AtOffset>
  /** Newest first, page by page. */
  transactions(
    options?: CallOptions & { readonly pageSize?: number },
  ): AsyncIterableIterator<Transaction>
  /** Names that were requested and are not paid yet. */
  subscriptionRequests(options?: CallOptions): Promise<readonly Contract[]>
  /** One of these requests. @throws {QuorumscanError} CONTRACT_NOT_FOUND once it is consumed. */
  subscriptionRequest(contractId: ContractId, options?: CallOptions): Promise<Contract>
  /** Locks the coin of the first payment. `names.register` does this together with the other steps. */
  acceptSubscriptionRequest(
    contractId: ContractId,
    options?: CallOptions & { readonly autoRenew?: boolean },
  ): Promise<{ readonly initialPaymentContractId: ContractId } & AtOffset>
  /** Rejects a request; nothing is paid. */
  rejectSubscriptionRequest(contractId: ContractId, options?: CallOptions): Promise<AtOffset>
  /** First payments whose coin is locked, and which are not decided yet. */
  initialPayments(options?: CallOptions): Promise<readonly Contract[]>
  /** Subscriptions of the user's names. */
  subscriptions(options?: CallOptions): Promise<readonly Subscription[]>
  /** Ends the payments. The name remains until it expires. @param contractId - Of the SubscriptionIdleState. */
  cancelSubscription(contractId: ContractId, options?: CallOptions): Promise<AtOffset>
  /** Sets whether the wallet pays renewals automatically. @param contractId - Of the Subscription. */
  setAutoRenew(contractId: ContractId, isEnabled: boolean, options?: CallOptions): Promise<AtOffset>
  /**
   * Locks the coin of a renewal, inside its window. `names.renew` also waits.
   *
   * @param contractId - Of the Subscription, or of its SubscriptionIdleState, which is paid at most once.
   */
  paySubscription(
    contractId: ContractId,
    options?: CallOptions,
  ): Promise<{ readonly paymentContractId: ContractId } & AtOffset>
  /**
   * Open offers to the user and of the user. `payments` makes and answers them. Other parties may make any number of
   * offers: `order: 'amount'` shows the largest first.
   *
   * @param options.sender - Only offers of this party.
   */
  transfers(options?: ListOptions & { readonly sender?: string }): Promise<readonly Contract[]>
}

const PAGE_SIZE = 100
const LIST_MAX = 1000
const WALLET = '/v0/wallet'
const TRANSFERS = `${WALLET}/token-standard/transfers`
const REQUESTS = `${WALLET}/subscription-requests`
const SUBSCRIPTIONS = `${WALLET}/subscriptions`

/** @internal Only `createValidator` calls it. */
export function createWallet(http: Http): Wallet {
  const get = <T>(
    path: string,
    isValid: Check<T>,
    more?: CallOptions & { readonly query?: Query },
  ) => readWallet(http, path, isValid, more)
  /** A write, with the offset at which the ledger shows it. */
  const write = async <T>(
    method: HttpRequest['method'],
    path: string,
    isValid: Check<T>,
    { body, isSafe, signal, timeoutMs }: CallOptions & Pick<HttpRequest, 'body' | 'isSafe'> = {},
  ): Promise<Camel<T> & AtOffset> => {
    const request = { method, path, body, isSafe, signal, timeoutMs }
    return { ...toCamel(await http.call(request, isValid)), offset: http.offset() }
  }
  /** A write whose answer has no body. */
  const writeWithoutBody = async (
    method: HttpRequest['method'],
    path: string,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<AtOffset> => {
    await http.send({ method, path, signal, timeoutMs })
    return { offset: http.offset() }
  }
  return {
    async party(options) {
      // Repeated requests return the same party.
      const asked = { ...options, isSafe: true }
      const { partyId } = await write('POST', '/v0/register', answers.isPartyIdAnswer, asked)
      return checkedParty(partyId)
    },
    async status(options) {
      const found = await get(`${WALLET}/user-status`, answers.isUserStatusAnswer, options)
      const { partyId } = found
      return { ...found, partyId: partyId === '' ? '' : checkedParty(partyId) }
    },
    balance: (options) => readBalance(http, options),
    async coins(options = {}) {
      const coins: Coins['coins'][number][] = []
      const lockedCoins: Coins['lockedCoins'][number][] = []
      await pages(http, options, async (asked) => {
        const page = await get(`${WALLET}/coins`, answers.isCoinsAnswer, asked)
        coins.push(...page.coins)
        lockedCoins.push(...page.lockedCoins)
        return { count: page.coins.length + page.lockedCoins.length, next: page.nextPageToken }
      })
      return { coins, lockedCoins }
    },
    tap({ usd, commandId = randomId(), ...options }) {
      const body = { amount: usd, command_id: commandId }
      return write('POST', `${WALLET}/tap`, answers.isTapAnswer, { ...options, body })
    },
    async *transactions({ pageSize = PAGE_SIZE, ...options } = {}) {
      for (let after: string | null = null; ; ) {
        const body: unknown = { page_size: pageSize, begin_after_id: after }
        const asked = { ...options, body, isSafe: true }
        const path = `${WALLET}/transactions`
        const page = await write('POST', path, answers.isTransactionsAnswer, asked)
        for (const item of page.items) {
          // Ids of events have as many digits each. A list that goes back would be endless.
          if (after !== null && item.eventId >= after) throw endless()
          yield item
          after = item.eventId
        }
        if (page.items.length === 0) return
      }
    },
    subscriptionRequests: async (options) =>
      (await get(REQUESTS, answers.isSubscriptionRequestsAnswer, options)).subscriptionRequests,
    subscriptionRequest: (contractId, options) =>
      get(`${REQUESTS}/${id(contractId)}`, answers.isContract, options),
    acceptSubscriptionRequest(contractId, { autoRenew = false, ...options } = {}) {
      const body = { auto_renew: autoRenew }
      const path = `${REQUESTS}/${id(contractId)}/accept`
      return write('POST', path, answers.isAcceptAnswer, { ...options, body })
    },
    rejectSubscriptionRequest: (contractId, options) =>
      writeWithoutBody('POST', `${REQUESTS}/${id(contractId)}/reject`, options),
    async initialPayments(options) {
      const path = `${WALLET}/subscription-initial-payments`
      return (await get(path, answers.isInitialPaymentsAnswer, options)).initialPayments
    },
    subscriptions: (options = {}) =>
      allPages(http, options, async (asked) => {
        const page = await get(SUBSCRIPTIONS, answers.isSubscriptionsAnswer, asked)
        return { rows: page.subscriptions, next: page.nextPageToken }
      }),
    cancelSubscription: (contractId, options) =>
      writeWithoutBody('DELETE', `${REQUESTS}/${id(contractId)}`, options),
    async setAutoRenew(contractId, isEnabled, options) {
      const path = `${SUBSCRIPTIONS}/${id(contractId)}/auto-renew`
      const asked = { ...options, body: { enabled: isEnabled }, isSafe: true }
      const { offset } = await write('PUT', path, answers.isAutoRenewAnswer, asked)
      return { offset }
    },
    paySubscription: (contractId, options) =>
      write('POST', `${SUBSCRIPTIONS}/${id(contractId)}/pay`, answers.isPayAnswer, options),
    async transfers({ sender, ...options } = {}) {
      const found: Contract[] = []
      await pages(http, options, async ({ query, ...call }) => {
        const asked = { ...call, query: { ...query, sender } }
        const page = await get(TRANSFERS, answers.isTransfersAnswer, asked)
        found.push(...page.transfers)
        return { count: page.transfers.length, next: page.nextPageToken }
      })
      return found.slice(0, options.limit ?? LIST_MAX)
    },
  }
}

type Page = { readonly count: number; readonly next: string | null }

/** Reads pages until the limit of a list. @throws {QuorumscanError} As `readPages`. */
async function pages(
  http: Http,
  { order = 'newest', limit = LIST_MAX, ...options }: ListOptions,
  read: (request: PageRequest) => Promise<Page>,
): Promise<void> {
  if (limit <= 0) return
  let rest = limit
  // Each page has a row.
  await readPages(http, { ...options, pagesMax: limit }, async ({ query, ...call }) => {
    const bounded = { ...query, order, page_size: Math.min(rest, PAGE_SIZE) }
    const { count, next } = await read({ ...call, query: bounded })
    rest -= count
    return rest > 0 ? next : null
  })
}

/** @throws {QuorumscanError} INVALID_RESPONSE. */
function checkedParty(partyId: string): Party {
  if (isParty(partyId)) return partyId
  throw failure('INVALID_RESPONSE', 'The validator answers with a text that is not a party.')
}

function id(contractId: ContractId): string {
  return encodeURIComponent(contractId)
}

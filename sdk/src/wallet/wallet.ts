/** The wallet of the token's user (D-20, D-21). Amounts are decimal texts: `addAmounts`, `compareAmounts`. */

import {
  isAcceptAnswer,
  isAutoRenewAnswer,
  isBalanceAnswer,
  isCoinsAnswer,
  isContract,
  isInitialPaymentsAnswer,
  isPartyIdAnswer,
  isPayAnswer,
  isSubscriptionRequestsAnswer,
  isSubscriptionsAnswer,
  isTapAnswer,
  isTransactionsAnswer,
  isTransferAnswer,
  isTransfersAnswer,
  isUserStatusAnswer,
} from '../generated/checks.ts'
import type { components } from '../generated/validator.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/request.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import type { ContractId } from '../platform/contract-id.ts'
import { randomId } from '../platform/random-id.ts'
import { microsOf } from '../platform/time.ts'

type Schema<Name extends keyof components['schemas']> = Camel<components['schemas'][Name]>

/** A contract: ids, payload as Daml-LF JSON, and `createdAt` (ISO-8601 UTC). */
export type Contract = Schema<'Contract'>
/** `partyId` is empty until `register`. */
export type UserStatus = Schema<'UserStatusAnswer'>
/** Coin, as decimal texts; `effectiveUnlockedQty` can be spent. */
export type Balance = Schema<'BalanceAnswer'>
/** The contracts behind the balance. */
export type Coins = Schema<'CoinsAnswer'>
/** What pays for a name: `state` is `{idle}` or, while a payment is under way, `{payment}`. */
export type Subscription = Schema<'SubscriptionsAnswer'>['subscriptions'][number]
/** A row of the wallet's history; what it has depends on `transactionType`. */
export type Transaction = Schema<'TransactionsAnswer'>['items'][number]
/** What became of a transfer. */
export type TransferResult = Schema<'TransferAnswer'>

/** Where the ledger shows what a call did, or something newer: reads at this offset see it. */
export type AtOffset = { readonly offset: number }

/** What any call takes. */
export type CallOptions = {
  /** Ends the call: it rejects with the signal's reason. A write may have taken effect. */
  readonly signal?: AbortSignal
  /** For the whole call, in ms. Default: that of the client. */
  readonly timeoutMs?: number
}

/**
 * Coin and subscriptions of the token's user.
 *
 * Each call throws QuorumscanError: UNAUTHENTICATED, WALLET_NOT_FOUND before `register`, TIMEOUT,
 * NETWORK_ERROR, and what the validator says. Only what certainly had no effect has `definite: true`.
 */
export interface Wallet {
  /** Gives the user a party, the first time; later the same. */
  register(options?: CallOptions): Promise<{ readonly partyId: string } & AtOffset>
  /** Whether the user has a party, and which. */
  status(options?: CallOptions): Promise<UserStatus>
  /** How much coin there is, spendable and locked. */
  balance(options?: CallOptions): Promise<Balance>
  /** The coin contracts, locked ones apart. */
  coins(options?: CallOptions): Promise<Coins>
  /**
   * Coin for nothing, in a development network.
   *
   * @param input.amount - In USD.
   * @param input.commandId - The same one twice gives coin once. Default: a new one.
   */
  tap(
    input: { readonly amount: string; readonly commandId?: string } & CallOptions,
  ): Promise<{ readonly contractId: ContractId } & AtOffset>
  /** Newest first, page by page. */
  transactions(
    options?: CallOptions & { readonly pageSize?: number },
  ): AsyncIterableIterator<Transaction>
  /** Names that were asked for and not paid yet. */
  subscriptionRequests(options?: CallOptions): Promise<readonly Contract[]>
  /** One of them. @throws {QuorumscanError} CONTRACT_NOT_FOUND once it is used up. */
  subscriptionRequest(contractId: ContractId, options?: CallOptions): Promise<Contract>
  /** Locks the coin of the first payment. `names.register` does this, and what comes before and after. */
  acceptSubscriptionRequest(
    contractId: ContractId,
    options?: CallOptions & { readonly autoRenew?: boolean },
  ): Promise<{ readonly initialPaymentContractId: ContractId } & AtOffset>
  /** Drops it; nothing is paid. */
  rejectSubscriptionRequest(contractId: ContractId, options?: CallOptions): Promise<AtOffset>
  /** First payments that are locked and not decided yet. */
  initialPayments(options?: CallOptions): Promise<readonly Contract[]>
  /** What pays for the user's names. */
  subscriptions(options?: CallOptions): Promise<readonly Subscription[]>
  /** No more payments: the name stays until it expires. @param contractId - Of the SubscriptionIdleState. */
  cancelSubscription(contractId: ContractId, options?: CallOptions): Promise<AtOffset>
  /** Whether the wallet pays renewals by itself. @param contractId - Of the Subscription. */
  setAutoRenew(contractId: ContractId, isEnabled: boolean, options?: CallOptions): Promise<AtOffset>
  /** Locks the coin of a renewal, inside its window; `names.renew` waits, too. @param contractId - Of the Subscription. */
  paySubscription(
    contractId: ContractId,
    options?: CallOptions,
  ): Promise<{ readonly paymentContractId: ContractId } & AtOffset>
  /** Offers coin to a party, which has until `expiresAt` to accept. */
  createTransfer(
    input: {
      readonly receiver: string
      readonly amount: string
      /** ISO-8601 UTC; `fromDate` makes one. */
      readonly expiresAt: string
      /** The same one twice is refused: a repeat cannot pay twice. */
      readonly trackingId: string
      readonly description?: string
    } & CallOptions,
  ): Promise<TransferResult & AtOffset>
  /** Offers to the user and of the user that are open. */
  transfers(options?: CallOptions): Promise<readonly Contract[]>
  /** Takes what was offered to the user. */
  acceptTransfer(contractId: ContractId, options?: CallOptions): Promise<TransferResult & AtOffset>
  /** Refuses it: the sender has his coin again. */
  rejectTransfer(contractId: ContractId, options?: CallOptions): Promise<TransferResult & AtOffset>
  /** Takes an offer of the user's own back. */
  withdrawTransfer(
    contractId: ContractId,
    options?: CallOptions,
  ): Promise<TransferResult & AtOffset>
}

const PAGE_SIZE = 100
const WALLET = '/v0/wallet'
const TRANSFERS = `${WALLET}/token-standard/transfers`
const REQUESTS = `${WALLET}/subscription-requests`
const SUBSCRIPTIONS = `${WALLET}/subscriptions`

type Check<T> = (body: unknown) => body is T

export function createWallet(http: Http): Wallet {
  const get = async <T>(
    path: string,
    isValid: Check<T>,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<Camel<T>> =>
    toCamel(await http.call({ method: 'GET', path, signal, timeoutMs }, isValid))
  /** A write, with where the ledger shows it. */
  const write = async <T>(
    method: HttpRequest['method'],
    path: string,
    isValid: Check<T>,
    { body, isSafe, signal, timeoutMs }: CallOptions & Pick<HttpRequest, 'body' | 'isSafe'> = {},
  ): Promise<Camel<T> & AtOffset> => {
    const answer = await http.call({ method, path, body, isSafe, signal, timeoutMs }, isValid)
    return { ...toCamel(answer), offset: http.offset() }
  }
  /** A write whose answer says nothing. */
  const settle = async (
    method: HttpRequest['method'],
    path: string,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<AtOffset> => {
    await http.send({ method, path, signal, timeoutMs })
    return { offset: http.offset() }
  }
  const choose = (contractId: ContractId, choice: string, options?: CallOptions) =>
    write('POST', `${TRANSFERS}/${id(contractId)}/${choice}`, isTransferAnswer, options)

  return {
    // The same party however often it is asked for.
    register: (options) =>
      write('POST', '/v0/register', isPartyIdAnswer, { ...options, isSafe: true }),
    status: (options) => get(`${WALLET}/user-status`, isUserStatusAnswer, options),
    balance: (options) => get(`${WALLET}/balance`, isBalanceAnswer, options),
    coins: (options) => get(`${WALLET}/coins`, isCoinsAnswer, options),
    tap({ amount, commandId = randomId(), ...options }) {
      const body = { amount, command_id: commandId }
      return write('POST', `${WALLET}/tap`, isTapAnswer, { ...options, body })
    },
    async *transactions({ pageSize = PAGE_SIZE, ...options } = {}) {
      for (let after: string | null = null; ; ) {
        const body: unknown = { page_size: pageSize, begin_after_id: after }
        const asked = { ...options, body, isSafe: true }
        const page = await write('POST', `${WALLET}/transactions`, isTransactionsAnswer, asked)
        for (const item of page.items) {
          yield item
          after = item.eventId
        }
        if (page.items.length === 0) return
      }
    },
    subscriptionRequests: async (options) =>
      (await get(REQUESTS, isSubscriptionRequestsAnswer, options)).subscriptionRequests,
    subscriptionRequest: (contractId, options) =>
      get(`${REQUESTS}/${id(contractId)}`, isContract, options),
    acceptSubscriptionRequest(contractId, { autoRenew = false, ...options } = {}) {
      const body = { auto_renew: autoRenew }
      const path = `${REQUESTS}/${id(contractId)}/accept`
      return write('POST', path, isAcceptAnswer, { ...options, body })
    },
    rejectSubscriptionRequest: (contractId, options) =>
      settle('POST', `${REQUESTS}/${id(contractId)}/reject`, options),
    async initialPayments(options) {
      const path = `${WALLET}/subscription-initial-payments`
      return (await get(path, isInitialPaymentsAnswer, options)).initialPayments
    },
    subscriptions: async (options) =>
      (await get(SUBSCRIPTIONS, isSubscriptionsAnswer, options)).subscriptions,
    cancelSubscription: (contractId, options) =>
      settle('DELETE', `${REQUESTS}/${id(contractId)}`, options),
    async setAutoRenew(contractId, isEnabled, options) {
      const path = `${SUBSCRIPTIONS}/${id(contractId)}/auto-renew`
      const asked = { ...options, body: { enabled: isEnabled }, isSafe: true }
      const { offset } = await write('PUT', path, isAutoRenewAnswer, asked)
      return { offset }
    },
    paySubscription: (contractId, options) =>
      write('POST', `${SUBSCRIPTIONS}/${id(contractId)}/pay`, isPayAnswer, options),
    async createTransfer({ receiver, amount, expiresAt, trackingId, description, ...options }) {
      const body = {
        receiver_party_id: receiver,
        amount,
        description: description ?? '',
        expires_at: microsOf(expiresAt),
        tracking_id: trackingId,
      }
      return write('POST', TRANSFERS, isTransferAnswer, { ...options, body })
    },
    transfers: async (options) => (await get(TRANSFERS, isTransfersAnswer, options)).transfers,
    acceptTransfer: (contractId, options) => choose(contractId, 'accept', options),
    rejectTransfer: (contractId, options) => choose(contractId, 'reject', options),
    withdrawTransfer: (contractId, options) => choose(contractId, 'withdraw', options),
  }
}

function id(contractId: ContractId): string {
  return encodeURIComponent(contractId)
}

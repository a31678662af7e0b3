/** The wallet of the token's user (D-20, D-21). Amounts are decimal texts: `addAmounts`, `compareAmounts`. */

import * as answers from '../generated/checks.ts'
import type { components } from '../generated/validator.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-failures.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import { randomId } from '../platform/clock.ts'
import type { ContractId } from '../platform/values.ts'

type Schema<Name extends keyof components['schemas']> = Camel<components['schemas'][Name]>

/** A contract: ids, payload as Daml-LF JSON, and `createdAt` (ISO-8601 UTC). */
export type Contract = Schema<'Contract'>
/** `partyId` is empty until `register`. */
export type UserStatus = Schema<'UserStatusAnswer'>
/** Amounts of coin, as decimal texts: `effectiveUnlockedQty` can be spent, `effectiveLockedQty` waits for a decision. */
export type Balance = Schema<'BalanceAnswer'>
/** The contracts behind the balance. */
export type Coins = Schema<'CoinsAnswer'>
/** Pays for a name. `state` is `{idle}` or, while a payment is in progress, `{payment}`. */
export type Subscription = Schema<'SubscriptionsAnswer'>['subscriptions'][number]
/** A row of the wallet's history; what it has depends on `transactionType`. */
export type Transaction = Schema<'TransactionsAnswer'>['items'][number]
/** The state of a transfer. */
export type TransferResult = Schema<'TransferAnswer'>

/** A ledger offset at which reads include the effect of the call. */
export type AtOffset = { readonly offset: number }

/** Options of every call. */
export type CallOptions = {
  /** Aborts the call, which rejects with the signal's reason. A write may have taken effect. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of the whole call, in ms. Default: that of the client. */
  readonly timeoutMs?: number
}

/**
 * Coin and subscriptions of the token's user.
 *
 * Each call throws QuorumscanError: UNAUTHENTICATED, WALLET_NOT_FOUND before `register`, TIMEOUT, NETWORK_ERROR, and
 * errors of the validator. `definite: true` means that the call certainly had no effect.
 */
export interface Wallet {
  /** Gives the user a party. Repeated calls return the same one. */
  register(options?: CallOptions): Promise<{ readonly partyId: string } & AtOffset>
  /** Whether the user has a party, and which. */
  status(options?: CallOptions): Promise<UserStatus>
  /** Spendable and locked coin. */
  balance(options?: CallOptions): Promise<Balance>
  /** Coin contracts, with locked ones in a list of their own. */
  coins(options?: CallOptions): Promise<Coins>
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
  /** Open offers to the user and of the user. `payments` makes and answers them. */
  transfers(options?: CallOptions): Promise<readonly Contract[]>
}

const PAGE_SIZE = 100
const WALLET = '/v0/wallet'
const TRANSFERS = `${WALLET}/token-standard/transfers`
const REQUESTS = `${WALLET}/subscription-requests`
const SUBSCRIPTIONS = `${WALLET}/subscriptions`

type Check<T> = (body: unknown) => body is T

/** @internal Only `createValidator` calls it. */
export function createWallet(http: Http): Wallet {
  const get = async <T>(path: string, isValid: Check<T>, { signal, timeoutMs }: CallOptions = {}) =>
    toCamel(await http.call({ method: 'GET', path, signal, timeoutMs }, isValid))
  /** A write, with the offset at which the ledger shows it. */
  const write = async <T>(
    method: HttpRequest['method'],
    path: string,
    isValid: Check<T>,
    { body, isSafe, signal, timeoutMs }: CallOptions & Pick<HttpRequest, 'body' | 'isSafe'> = {},
  ): Promise<Camel<T> & AtOffset> => {
    const answer = await http.call({ method, path, body, isSafe, signal, timeoutMs }, isValid)
    return { ...toCamel(answer), offset: http.offset() }
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
    // Repeated requests return the same party.
    register: (options) =>
      write('POST', '/v0/register', answers.isPartyIdAnswer, { ...options, isSafe: true }),
    status: (options) => get(`${WALLET}/user-status`, answers.isUserStatusAnswer, options),
    balance: (options) => get(`${WALLET}/balance`, answers.isBalanceAnswer, options),
    coins: (options) => get(`${WALLET}/coins`, answers.isCoinsAnswer, options),
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
    subscriptions: async (options) =>
      (await get(SUBSCRIPTIONS, answers.isSubscriptionsAnswer, options)).subscriptions,
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
    transfers: async (options) =>
      (await get(TRANSFERS, answers.isTransfersAnswer, options)).transfers,
  }
}

function id(contractId: ContractId): string {
  return encodeURIComponent(contractId)
}

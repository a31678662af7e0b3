/** The routes of names, users and wallets (D-17 to D-21): each finds the calling user, then calls the operation. */
import type { validatorRoutes } from '@quorumscan/api'
import { assertActAs, FIRST_ADMIN_USER } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import {
  subscriptionInitialPayment,
  subscriptionRequest,
  type Template,
  toWireContract,
} from '@quorumscan/ledger'
import type { Micros, PartyId, UserId } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { Handlers } from '@quorumscan/server'
import type { AutoRenewals, Users } from '@quorumscan/users'
import type { Genesis } from '@quorumscan/verifier'
import { type ContractCall, contractsOf, ownContract, type WalletUser } from './ledger.ts'
import { createEntry, listOwnEntries } from './names/entries.ts'
import type { Registration } from './users/registration.ts'
import { balanceOf, listCoins, tap } from './wallet/coins.ts'
import type { Payments } from './wallet/payments.ts'
import { acceptRequest, rejectRequest } from './wallet/requests.ts'
import type { SpendingDeps } from './wallet/spending.ts'
import {
  cancelSubscription,
  listSubscriptions,
  paySubscription,
  type RenewalRights,
  setAutoRenew,
} from './wallet/subscriptions.ts'
import { listTransactions } from './wallet/transactions.ts'
import { type Answer, answerTransfer, createTransfer, listTransfers } from './wallet/transfers.ts'

/** What the handlers work with. The validator opens it. */
export type WalletParts = SpendingDeps & {
  readonly ledger: Replica
  readonly genesis: Pick<Genesis, 'synchronizerId'>
  readonly autoRenewals: AutoRenewals
  readonly payments: Payments
  readonly registration: Registration
  readonly users: Pick<Users, 'get'>
  readonly mayAct: RenewalRights['mayAct']
  /** The earliest record time that a command submitted now can get, if all clocks are right. */
  readonly now: () => Micros
  /** @throws {ScanError} NOT_READY, CLOCK_OFF, LOG_REGRESSED or SOFTWARE_OUTDATED. */
  readonly assertLive: () => void
}

/** The user of a token. */
export type Principal = { readonly userId: UserId }

type Routes = typeof validatorRoutes
type WalletRoute = {
  [Id in keyof Routes]: Routes[Id]['tag'] extends 'users' | 'name-entry' | 'wallet' ? Id : never
}[keyof Routes]
type WalletHandlers = Pick<Handlers<Routes, Principal>, WalletRoute>

type ContractRequest = {
  readonly user: Principal
  readonly params: { readonly contract_id: string }
  readonly signal: AbortSignal
}

export function walletHandlers(parts: WalletParts): WalletHandlers {
  const { ledger, submitter, queue, payments, autoRenewals, registration, users } = parts
  const { synchronizerId } = parts.genesis
  const { mayAct, now, assertLive } = parts
  const partyOf = async (userId: UserId): Promise<PartyId | null> =>
    (await users.get(userId))?.user.primaryParty ?? null

  /**
   * A handler for users who have a wallet.
   *
   * @throws {ScanError} (the handler) NOT_READY while the replica lags, WALLET_NOT_FOUND if the user is not registered,
   *   PERMISSION_DENIED if it may not act.
   */
  const asUser =
    <Request extends { readonly user: Principal }, Body>(
      answer: (user: WalletUser, request: Request) => Promise<Body>,
    ) =>
    async (request: Request): Promise<{ readonly body: Body }> => {
      assertLive()
      const { userId } = request.user
      const record = await users.get(userId)
      const party = record?.user.primaryParty ?? null
      if (record === null || party === null)
        throw new ScanError(
          'WALLET_NOT_FOUND',
          `No wallet found for user '${userId}': POST /v0/register makes one.`,
        )
      if (record.user.isDeactivated)
        throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
      assertActAs(record.rights, [party])
      return { body: await answer({ userId, party }, request) }
    }

  /** The same, about the contract of the path. */
  const aboutContract = <Request extends ContractRequest, Body>(
    answer: (call: ContractCall, request: Request) => Promise<Body>,
  ) =>
    asUser((user, request: Request) => {
      const { params, signal } = request
      return answer({ user, signal, contractId: params.contract_id }, request)
    })

  const listed = async (template: Template<unknown>, party: PartyId) =>
    (await contractsOf(ledger, template, party)).map(toWireContract)

  const answering = (answer: Answer) =>
    aboutContract((call) =>
      answerTransfer({ ledger, submitter, payments, now }, { ...call, answer }),
    )

  return {
    async registerUser({ user, signal }) {
      assertLive()
      return { body: { party_id: await registration.register(user.userId, signal) } }
    },
    async createUser({ body, signal }) {
      assertLive()
      const { name: userId, party_id: party = null, createPartyIfMissing } = body
      const input = { userId, party, isPartyCreated: createPartyIfMissing ?? party === null }
      return { body: { party_id: await registration.createUser(input, signal) } }
    },
    async getValidatorUser() {
      const party = await partyOf(FIRST_ADMIN_USER)
      if (party === null)
        throw new ScanError('NOT_READY', "The operator's party is not allocated yet.")
      return { body: { party_id: party, user_name: FIRST_ADMIN_USER, featured: false } }
    },
    async getUserStatus({ user }) {
      const party = await partyOf(user.userId)
      return {
        body: {
          party_id: party ?? '',
          user_onboarded: party !== null,
          user_wallet_installed: party !== null,
          has_featured_app_right: false,
        },
      }
    },
    createEntry: asUser((user, { body: fields, signal }) =>
      createEntry({ ledger, submitter }, { user, signal, fields }),
    ),
    listOwnEntries: asUser((user, request) => listOwnEntries(ledger, user, request)),
    tap: asUser(async (user, { body, signal }) => {
      const commandId = body.command_id ?? null
      return await tap(
        { ledger, submitter, payments, now },
        { user, signal, usd: body.amount, commandId },
      )
    }),
    getBalance: asUser(({ party }) => balanceOf(ledger, party)),
    listCoins: asUser(({ party }, { query }) =>
      listCoins(ledger, { party, synchronizerId, query }),
    ),
    listTransactions: asUser(async (user, { body, signal }) => {
      const { page_size: limit, begin_after_id: id } = body
      // Upstream's clients send an empty text for the first page.
      const before = id === undefined || id === '' ? null : id
      return { items: await listTransactions(ledger, { user, signal, limit, before }) }
    }),
    listSubscriptionRequests: asUser(async ({ party }) => ({
      subscription_requests: await listed(subscriptionRequest, party),
    })),
    getSubscriptionRequest: asUser(async (user, { params: { contract_id: contractId } }) =>
      toWireContract(await ownContract(ledger, subscriptionRequest, { user, contractId })),
    ),
    acceptSubscriptionRequest: aboutContract(async (call, { body }) => {
      const isAutoRenewed = body?.auto_renew ?? false
      const paymentId = await acceptRequest(
        { ledger, submitter, queue, autoRenewals },
        { ...call, isAutoRenewed },
      )
      return { initial_payment_contract_id: paymentId }
    }),
    rejectSubscriptionRequest: aboutContract(async (call) => {
      await rejectRequest({ ledger, submitter, queue }, call)
      return null
    }),
    listInitialPayments: asUser(async ({ party }) => ({
      initial_payments: await listed(subscriptionInitialPayment, party),
    })),
    listSubscriptions: asUser((user, request) =>
      listSubscriptions({ ledger, autoRenewals, mayAct }, user, request),
    ),
    setAutoRenew: aboutContract(async (call, { body: { enabled } }) => {
      await setAutoRenew({ ledger, queue, autoRenewals }, { ...call, isEnabled: enabled })
      return { auto_renew: enabled }
    }),
    paySubscription: aboutContract(async (call) => ({
      payment_contract_id: await paySubscription({ ledger, submitter, queue, now }, call),
    })),
    cancelSubscription: aboutContract(async (call) => {
      await cancelSubscription({ ledger, submitter, queue }, call)
      return null
    }),
    createTransfer: asUser((user, { body: transfer, signal }) =>
      createTransfer({ ledger, submitter, queue, payments, now }, { user, signal, transfer }),
    ),
    listTransfers: asUser((user, { query }) => listTransfers(ledger, user, query)),
    acceptTransfer: answering('accept'),
    rejectTransfer: answering('reject'),
    withdrawTransfer: answering('withdraw'),
  }
}

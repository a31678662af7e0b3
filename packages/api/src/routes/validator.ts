/** The validator: name entries, users and wallet (D-19, D-20), and the scan proxy. */
import { Type } from 'typebox'
import {
  activitiesCost,
  COST_LOOKUP,
  COST_PAYMENT,
  COST_STORED,
  COST_SUBMISSION,
  COST_USER_READ,
  offersCost,
  pageCost,
} from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { Contract } from '../schemas/contracts.ts'
import * as m from '../schemas/members.ts'
import { ContractIdInput, Party } from '../schemas/scalars.ts'
import * as wallet from '../schemas/wallet.ts'
import { healthRoutes } from './health.ts'
import { scanProxyRoutes } from './scan-proxy.ts'

const readErrors = ['WALLET_NOT_FOUND', 'NOT_READY', 'CLOCK_OFF', 'DEPENDENCY_UNAVAILABLE'] as const

/** The errors of every submission. */
const submitErrors = [
  ...readErrors,
  'PERMISSION_DENIED',
  'CONTRACT_CONSUMED',
  'CHOICE_REFUSED',
  'DUPLICATE_COMMAND',
  'SUBMISSION_EXPIRED',
  'SUBMISSION_UNKNOWN',
  'LOG_FULL',
  'USERS_LOST',
] as const

/** The errors of operations that have one effect for their id, also after the deduplication period (D-83). */
const onceErrors = ['PAYMENT_DIFFERS', 'PAYMENT_RECORDS_INCOMPLETE', 'LIMIT_EXCEEDED'] as const

/** The errors of operations that choose coins. */
const spendErrors = [
  ...submitErrors,
  'CONTRACT_NOT_FOUND',
  'INSUFFICIENT_FUNDS',
  'LIMIT_EXCEEDED',
] as const

const read = {
  tag: 'wallet',
  auth: 'user',
  responseHeaders: ['readFloor'],
  errors: readErrors,
  cost: COST_USER_READ,
} as const
const submission = {
  ...read,
  errors: submitErrors,
  cost: COST_SUBMISSION,
  waits: true,
} as const
const oneContract = Type.Object({ contract_id: ContractIdInput })

/** Ends a contract, or pays for it. */
const ofContract = {
  ...submission,
  params: oneContract,
  errors: [...submitErrors, 'CONTRACT_NOT_FOUND'],
} as const
const payment = { ...ofContract, errors: spendErrors, cost: COST_PAYMENT } as const

/** One of the three ways in which an open offer of coin ends. */
function endOfTransfer<const Verb extends string>(verb: Verb, summary: string) {
  const place = `POST /v0/wallet/token-standard/transfers/{contract_id}/${verb}` as const
  const errors = [...submitErrors, ...onceErrors, 'CONTRACT_NOT_FOUND'] as const
  return route(place, ofContract, { summary, response: wallet.TransferAnswer, errors })
}

const Readiness = m.string('A line for the check, and a line with the result.')

export const validatorRoutes = defineRoutes({
  ...healthRoutes,
  readyz: {
    ...healthRoutes.readyz,
    description:
      'At the root, for clients of the ledger interface, the answer is text: `[+] ledger ok (SERVING)`, or with 503 ' +
      '`[-] ledger failed (NOT_SERVING)`, and a line with the result. Below `/api/validator` a 200 is empty, a 503 JSON.',
    otherForms: { 'text/plain': Readiness },
    unavailableForms: { 'text/plain': Readiness },
  },
  ...scanProxyRoutes,
  createEntry: route('POST /v0/entry/create', submission, {
    tag: 'name-entry',
    summary: 'Requests a name; accepting the subscription request in the wallet pays for it.',
    body: wallet.CreateEntryRequest,
    response: wallet.CreateEntryAnswer,
    errors: [
      ...submitErrors,
      'NAME_SUFFIX_MISSING',
      'INVALID_NAME',
      'INVALID_URL',
      'INVALID_DESCRIPTION',
      'NAME_TAKEN',
      'OPEN_REQUEST_LIMIT',
    ],
  }),
  listOwnEntries: route('GET /v0/entry/all', read, {
    tag: 'name-entry',
    summary: 'The live entries of the user, with their subscriptions, page by page.',
    query: Type.Object(wallet.pageQuery),
    errors: [...readErrors, 'INVALID_PAGE_TOKEN'],
    response: wallet.OwnEntriesAnswer,
  }),
  registerUser: route('POST /v0/register', submission, {
    tag: 'users',
    summary: 'Gives the user of the token a party; the same one again the second time.',
    body: wallet.RegisterRequest,
    bodyOptional: true,
    response: wallet.PartyIdAnswer,
  }),
  createUser: route('POST /v0/admin/users', submission, {
    tag: 'users',
    auth: 'admin',
    summary: 'Gives a named user a party.',
    body: wallet.CreateUserRequest,
    response: wallet.PartyIdAnswer,
    errors: [...submitErrors, 'INVALID_PARTY', 'USER_EXISTS'],
  }),
  getValidatorUser: route('GET /v0/validator-user', read, {
    tag: 'users',
    auth: 'none',
    cost: COST_LOOKUP,
    summary: 'The operator of this validator: its user and party.',
    response: wallet.ValidatorUserAnswer,
  }),
  getUserStatus: route('GET /v0/wallet/user-status', read, {
    summary: 'Whether the user of the token is registered.',
    response: wallet.UserStatusAnswer,
  }),
  tap: route('POST /v0/wallet/tap', submission, {
    summary: 'Creates coin, in a development network.',
    body: wallet.TapRequest,
    response: wallet.TapAnswer,
    errors: [...submitErrors, ...onceErrors, 'DEVNET_ONLY'],
  }),
  getBalance: route('GET /v0/wallet/balance', read, {
    summary: 'The coin of the user, unlocked and locked.',
    response: wallet.BalanceAnswer,
  }),
  listCoins: route('GET /v0/wallet/coins', read, {
    summary: 'The contracts behind the balance, page by page.',
    query: Type.Object(wallet.walletListQuery),
    errors: [...readErrors, 'INVALID_PAGE_TOKEN'],
    cost: pageCost,
    response: wallet.CoinsAnswer,
  }),
  listTransactions: route('POST /v0/wallet/transactions', read, {
    summary: "The user's history, newest first: a page, and the one before it.",
    body: wallet.TransactionsRequest,
    response: wallet.TransactionsAnswer,
    errors: [...readErrors, 'OFFSET_PRUNED'],
    cost: activitiesCost,
  }),
  listSubscriptionRequests: route('GET /v0/wallet/subscription-requests', read, {
    summary: 'Open requests to the user.',
    response: wallet.SubscriptionRequestsAnswer,
  }),
  getSubscriptionRequest: route('GET /v0/wallet/subscription-requests/{contract_id}', read, {
    summary: 'An open request to the user.',
    params: oneContract,
    response: Contract,
    errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
  }),
  acceptSubscriptionRequest: route(
    'POST /v0/wallet/subscription-requests/{contract_id}/accept',
    payment,
    {
      summary: 'Accepts a request and locks the coin of its first payment.',
      body: wallet.AcceptRequest,
      bodyOptional: true,
      response: wallet.AcceptAnswer,
    },
  ),
  rejectSubscriptionRequest: route(
    'POST /v0/wallet/subscription-requests/{contract_id}/reject',
    ofContract,
    { summary: 'Rejects a request.', response: null },
  ),
  cancelSubscription: route('DELETE /v0/wallet/subscription-requests/{contract_id}', ofContract, {
    summary: 'Cancels a subscription; contract_id is that of its SubscriptionIdleState.',
    description: 'The entry stays until it expires, and is not renewed.',
    response: null,
  }),
  listInitialPayments: route('GET /v0/wallet/subscription-initial-payments', read, {
    summary: 'First payments that the operator has yet to collect.',
    response: wallet.InitialPaymentsAnswer,
  }),
  listSubscriptions: route('GET /v0/wallet/subscriptions', read, {
    summary: 'Subscriptions of the user, idle or with a payment in progress, page by page.',
    query: Type.Object(wallet.pageQuery),
    errors: [...readErrors, 'INVALID_PAGE_TOKEN'],
    response: wallet.SubscriptionsAnswer,
  }),
  setAutoRenew: route(
    'PUT /v0/wallet/subscriptions/{contract_id}/auto-renew',
    { tag: 'wallet', auth: 'user', cost: COST_STORED },
    {
      summary: 'Switches auto-renewal on or off; contract_id is that of the Subscription.',
      params: oneContract,
      body: wallet.AutoRenewRequest,
      response: wallet.AutoRenewAnswer,
      errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
    },
  ),
  paySubscription: route('POST /v0/wallet/subscriptions/{contract_id}/pay', payment, {
    summary:
      'Pays a renewal inside its window; contract_id is that of the Subscription, or of its SubscriptionIdleState, which is paid at most once.',
    response: wallet.PayAnswer,
  }),
  createTransfer: route('POST /v0/wallet/token-standard/transfers', submission, {
    summary: 'Offers coin to a party. To the user itself it moves at once.',
    cost: COST_PAYMENT,
    body: wallet.CreateTransferRequest,
    response: wallet.TransferAnswer,
    errors: [...spendErrors, 'PAYMENT_DIFFERS', 'PAYMENT_RECORDS_INCOMPLETE', 'INVALID_PARTY'],
  }),
  listTransfers: route('GET /v0/wallet/token-standard/transfers', read, {
    summary: 'Open offers by or for the user, page by page.',
    description:
      'With `sender`, one page has the open offers of this sender: at most 100, whatever `page_size` is.',
    query: Type.Object({
      ...wallet.walletListQuery,
      sender: m.omittable(Party, 'Only offers of this party.'),
    }),
    errors: [...readErrors, 'INVALID_PAGE_TOKEN', 'INVALID_PARTY'],
    cost: offersCost,
    response: wallet.TransfersAnswer,
  }),
  acceptTransfer: endOfTransfer('accept', 'Accepts an offer to the user.'),
  rejectTransfer: endOfTransfer(
    'reject',
    'Rejects an offer to the user; its sender receives the coin back.',
  ),
  withdrawTransfer: endOfTransfer('withdraw', 'Withdraws an offer of the user.'),
})

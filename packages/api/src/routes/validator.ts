/** The validator: name entries, users and wallet (D-19, D-20), and the scan proxy. */

import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { activitiesCost, COST_LOOKUP, COST_SUBMISSION } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { Contract } from '../schemas/contracts.ts'
import * as m from '../schemas/members.ts'
import { ContractIdInput } from '../schemas/scalars.ts'
import * as wallet from '../schemas/wallet.ts'
import { healthRoutes } from './health.ts'
import { scanProxyRoutes } from './scan-proxy.ts'

const readErrors = [
  'WALLET_NOT_FOUND',
  'NOT_READY',
  'CLOCK_OFF',
  'DEPENDENCY_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** What any submission can meet. */
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
] as const satisfies readonly ErrorCode[]

/** What an operation that chooses coins can meet beyond. */
const spendErrors = [
  ...submitErrors,
  'CONTRACT_NOT_FOUND',
  'INSUFFICIENT_FUNDS',
  'LIMIT_EXCEEDED',
] as const satisfies readonly ErrorCode[]

const read = {
  tag: 'wallet',
  auth: 'user',
  responseHeaders: ['shown'],
  errors: readErrors,
  cost: COST_LOOKUP,
} as const
const submission = { ...read, errors: submitErrors, cost: COST_SUBMISSION } as const
const oneContract = Type.Object({ contract_id: ContractIdInput })

/** Of one contract: an end to it, or a payment for it. */
const ofContract = {
  ...submission,
  params: oneContract,
  errors: [...submitErrors, 'CONTRACT_NOT_FOUND'],
} as const
const payment = { ...ofContract, errors: spendErrors } as const

const Readiness = m.string('A line of what was looked at, and a line with the result.')

export const validatorRoutes = defineRoutes({
  ...healthRoutes,
  readyz: {
    ...healthRoutes.readyz,
    description:
      'At the root, where clients of the ledger interface ask, the answer is text: `[+] ledger ok (SERVING)` and ' +
      'a line with the result, with 503 `[-] ledger failed (NOT_SERVING)`. Below `/api/validator` a 200 is empty and a ' +
      '503 is JSON.',
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
    summary: 'The live entries of the user, with their subscriptions.',
    response: wallet.OwnEntriesAnswer,
  }),
  registerUser: route('POST /v0/register', submission, {
    tag: 'users',
    summary: 'Gives the user of the token a party; a second time finds the same.',
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
    summary: "The operator of this validator: its user and that user's party.",
    response: wallet.ValidatorUserAnswer,
  }),
  getUserStatus: route('GET /v0/wallet/user-status', read, {
    summary: 'Whether the user of the token is registered.',
    response: wallet.UserStatusAnswer,
  }),
  tap: route('POST /v0/wallet/tap', submission, {
    summary: 'Coin for nothing, in a development network.',
    body: wallet.TapRequest,
    response: wallet.TapAnswer,
    errors: [...submitErrors, 'DEVNET_ONLY'],
  }),
  getBalance: route('GET /v0/wallet/balance', read, {
    summary: 'What the user holds, unlocked and locked.',
    response: wallet.BalanceAnswer,
  }),
  listCoins: route('GET /v0/wallet/coins', read, {
    summary: 'The contracts behind the balance.',
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
    summary: 'Requests that wait for the user.',
    response: wallet.SubscriptionRequestsAnswer,
  }),
  getSubscriptionRequest: route('GET /v0/wallet/subscription-requests/{contract_id}', read, {
    summary: 'One request that waits for the user.',
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
    {
      summary: 'Rejects a request.',
      response: null,
    },
  ),
  cancelSubscription: route('DELETE /v0/wallet/subscription-requests/{contract_id}', ofContract, {
    summary: 'Cancels a subscription; contract_id is that of its SubscriptionIdleState.',
    description: 'The entry stays until it expires, and is not renewed.',
    response: null,
  }),
  listInitialPayments: route('GET /v0/wallet/subscription-initial-payments', read, {
    summary: 'First payments that wait for the operator.',
    response: wallet.InitialPaymentsAnswer,
  }),
  listSubscriptions: route('GET /v0/wallet/subscriptions', read, {
    summary: 'Subscriptions of the user, idle or with a payment under way.',
    response: wallet.SubscriptionsAnswer,
  }),
  setAutoRenew: route(
    'PUT /v0/wallet/subscriptions/{contract_id}/auto-renew',
    { tag: 'wallet', auth: 'user', cost: COST_LOOKUP },
    {
      summary: 'Switches auto-renewal on or off; contract_id is that of the Subscription.',
      params: oneContract,
      body: wallet.AutoRenewRequest,
      response: wallet.AutoRenewAnswer,
      errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
    },
  ),
  paySubscription: route('POST /v0/wallet/subscriptions/{contract_id}/pay', payment, {
    summary: 'Pays a renewal inside its window; contract_id is that of the Subscription.',
    response: wallet.PayAnswer,
  }),
  createTransfer: route('POST /v0/wallet/token-standard/transfers', submission, {
    summary: 'Offers coin to a party; to oneself it is moved at once.',
    body: wallet.CreateTransferRequest,
    response: wallet.TransferAnswer,
    errors: [...spendErrors, 'INVALID_PARTY'],
  }),
  listTransfers: route('GET /v0/wallet/token-standard/transfers', read, {
    summary: 'Open offers that the user made or may take.',
    response: wallet.TransfersAnswer,
  }),
  acceptTransfer: route(
    'POST /v0/wallet/token-standard/transfers/{contract_id}/accept',
    ofContract,
    {
      summary: 'Takes the coin of an offer to the user.',
      response: wallet.TransferAnswer,
    },
  ),
  rejectTransfer: route(
    'POST /v0/wallet/token-standard/transfers/{contract_id}/reject',
    ofContract,
    {
      summary: 'Gives the coin of an offer to the user back to its sender.',
      response: wallet.TransferAnswer,
    },
  ),
  withdrawTransfer: route(
    'POST /v0/wallet/token-standard/transfers/{contract_id}/withdraw',
    ofContract,
    {
      summary: 'Takes the coin of an offer that the user made back.',
      response: wallet.TransferAnswer,
    },
  ),
})

/** The validator: name entries, users and wallet (D-19, D-20), and the scan proxy. */

import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { activitiesCost, COST_LOOKUP, COST_SUBMISSION } from '../cost.ts'
import { defineRoutes } from '../define-routes.ts'
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

const shown = { responseHeaders: ['shown'] } as const
const read = {
  ...shown,
  tag: 'wallet',
  auth: 'user',
  method: 'GET',
  errors: readErrors,
  cost: COST_LOOKUP,
} as const
const submission = {
  ...shown,
  tag: 'wallet',
  auth: 'user',
  method: 'POST',
  cost: COST_SUBMISSION,
} as const
const oneContract = Type.Object({ contract_id: ContractIdInput })

/** Of one contract: an end to it, or a payment for it. */
const ofContract = {
  ...submission,
  params: oneContract,
  errors: [...submitErrors, 'CONTRACT_NOT_FOUND'],
} as const
const payment = { ...ofContract, errors: spendErrors } as const

const Readiness = m.string('A line of what was looked at, and a line with the result.')

export const validatorRoutes = {
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
  ...defineRoutes({
    createEntry: {
      ...submission,
      tag: 'name-entry',
      path: '/v0/entry/create',
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
    },
    listOwnEntries: {
      ...read,
      tag: 'name-entry',
      path: '/v0/entry/all',
      summary: 'The live entries of the user, with their subscriptions.',
      response: wallet.OwnEntriesAnswer,
    },
    registerUser: {
      ...submission,
      tag: 'users',
      path: '/v0/register',
      summary: 'Gives the user of the token a party; a second time finds the same.',
      body: wallet.RegisterRequest,
      bodyOptional: true,
      response: wallet.PartyIdAnswer,
      errors: submitErrors,
    },
    createUser: {
      ...submission,
      tag: 'users',
      auth: 'admin',
      path: '/v0/admin/users',
      summary: 'Gives a named user a party.',
      body: wallet.CreateUserRequest,
      response: wallet.PartyIdAnswer,
      errors: [...submitErrors, 'INVALID_PARTY', 'USER_EXISTS'],
    },
    getValidatorUser: {
      ...read,
      tag: 'users',
      auth: 'none',
      path: '/v0/validator-user',
      summary: "The operator of this validator: its user and that user's party.",
      response: wallet.ValidatorUserAnswer,
    },
    getUserStatus: {
      ...read,
      path: '/v0/wallet/user-status',
      summary: 'Whether the user of the token is registered.',
      response: wallet.UserStatusAnswer,
    },
    tap: {
      ...submission,
      path: '/v0/wallet/tap',
      summary: 'Coin for nothing, in a development network.',
      body: wallet.TapRequest,
      response: wallet.TapAnswer,
      errors: [...submitErrors, 'DEVNET_ONLY'],
    },
    getBalance: {
      ...read,
      path: '/v0/wallet/balance',
      summary: 'What the user holds, unlocked and locked.',
      response: wallet.BalanceAnswer,
    },
    listCoins: {
      ...read,
      path: '/v0/wallet/coins',
      summary: 'The contracts behind the balance.',
      response: wallet.CoinsAnswer,
    },
    listTransactions: {
      ...shown,
      tag: 'wallet',
      auth: 'user',
      method: 'POST',
      path: '/v0/wallet/transactions',
      summary: "The user's history, newest first: a page, and the one before it.",
      body: wallet.TransactionsRequest,
      response: wallet.TransactionsAnswer,
      errors: [...readErrors, 'OFFSET_PRUNED'],
      cost: activitiesCost,
    },
    listSubscriptionRequests: {
      ...read,
      path: '/v0/wallet/subscription-requests',
      summary: 'Requests that wait for the user.',
      response: wallet.SubscriptionRequestsAnswer,
    },
    getSubscriptionRequest: {
      ...read,
      path: '/v0/wallet/subscription-requests/{contract_id}',
      summary: 'One request that waits for the user.',
      params: oneContract,
      response: Contract,
      errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
    },
    acceptSubscriptionRequest: {
      ...payment,
      path: '/v0/wallet/subscription-requests/{contract_id}/accept',
      summary: 'Accepts a request and locks the coin of its first payment.',
      body: wallet.AcceptRequest,
      bodyOptional: true,
      response: wallet.AcceptAnswer,
    },
    rejectSubscriptionRequest: {
      ...ofContract,
      path: '/v0/wallet/subscription-requests/{contract_id}/reject',
      summary: 'Rejects a request.',
      response: null,
    },
    cancelSubscription: {
      ...ofContract,
      method: 'DELETE',
      path: '/v0/wallet/subscription-requests/{contract_id}',
      summary: 'Cancels a subscription; contract_id is that of its SubscriptionIdleState.',
      description: 'The entry stays until it expires, and is not renewed.',
      response: null,
    },
    listInitialPayments: {
      ...read,
      path: '/v0/wallet/subscription-initial-payments',
      summary: 'First payments that wait for the operator.',
      response: wallet.InitialPaymentsAnswer,
    },
    listSubscriptions: {
      ...read,
      path: '/v0/wallet/subscriptions',
      summary: 'Subscriptions of the user, idle or with a payment under way.',
      response: wallet.SubscriptionsAnswer,
    },
    setAutoRenew: {
      tag: 'wallet',
      auth: 'user',
      method: 'PUT',
      path: '/v0/wallet/subscriptions/{contract_id}/auto-renew',
      summary: 'Switches auto-renewal on or off; contract_id is that of the Subscription.',
      params: oneContract,
      body: wallet.AutoRenewRequest,
      response: wallet.AutoRenewAnswer,
      errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
      cost: COST_LOOKUP,
    },
    paySubscription: {
      ...payment,
      path: '/v0/wallet/subscriptions/{contract_id}/pay',
      summary: 'Pays a renewal inside its window; contract_id is that of the Subscription.',
      response: wallet.PayAnswer,
    },
    createTransfer: {
      ...submission,
      path: '/v0/wallet/token-standard/transfers',
      summary: 'Offers coin to a party; to oneself it is moved at once.',
      body: wallet.CreateTransferRequest,
      response: wallet.TransferAnswer,
      errors: [...spendErrors, 'INVALID_PARTY'],
    },
    listTransfers: {
      ...read,
      path: '/v0/wallet/token-standard/transfers',
      summary: 'Open offers that the user made or may take.',
      response: wallet.TransfersAnswer,
    },
    acceptTransfer: {
      ...ofContract,
      path: '/v0/wallet/token-standard/transfers/{contract_id}/accept',
      summary: 'Takes the coin of an offer to the user.',
      response: wallet.TransferAnswer,
    },
    rejectTransfer: {
      ...ofContract,
      path: '/v0/wallet/token-standard/transfers/{contract_id}/reject',
      summary: 'Gives the coin of an offer to the user back to its sender.',
      response: wallet.TransferAnswer,
    },
    withdrawTransfer: {
      ...ofContract,
      path: '/v0/wallet/token-standard/transfers/{contract_id}/withdraw',
      summary: 'Takes the coin of an offer that the user made back.',
      response: wallet.TransferAnswer,
    },
  }),
} as const

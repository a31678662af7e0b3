/** The validator: name entries, users and wallet (D-19, D-20), and the scan proxy. */
import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { COST_LOOKUP, COST_SUBMISSION } from '../cost.ts'
import { defineRoutes } from '../route-def.ts'
import { Contract } from '../schemas/contracts.ts'
import { ContractIdInput } from '../schemas/scalars.ts'
import {
  AcceptAnswer,
  BalanceAnswer,
  CoinsAnswer,
  CreateEntryAnswer,
  CreateEntryRequest,
  CreateUserRequest,
  InitialPaymentsAnswer,
  OwnEntriesAnswer,
  PartyIdAnswer,
  RegisterRequest,
  SubscriptionRequestsAnswer,
  SubscriptionsAnswer,
  TapAnswer,
  TapRequest,
  UserStatusAnswer,
  ValidatorUserAnswer,
} from '../schemas/wallet.ts'
import { healthRoutes } from './health.ts'
import { scanProxyRoutes } from './scan-proxy.ts'

const readErrors = [
  'WALLET_NOT_FOUND',
  'NOT_READY',
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
] as const satisfies readonly ErrorCode[]

const read = { auth: 'user', method: 'GET', errors: readErrors, cost: COST_LOOKUP } as const
const submission = { auth: 'user', method: 'POST', cost: COST_SUBMISSION } as const
const oneContract = Type.Object({ contract_id: ContractIdInput })

export const validatorRoutes = {
  ...healthRoutes,
  ...scanProxyRoutes,
  ...defineRoutes({
    createEntry: {
      ...submission,
      tag: 'name-entry',
      path: '/v0/entry/create',
      summary: 'Requests a name; accepting the subscription request in the wallet pays for it.',
      body: CreateEntryRequest,
      response: CreateEntryAnswer,
      errors: [
        ...submitErrors,
        'NAME_SUFFIX_MISSING',
        'INVALID_NAME',
        'INVALID_URL',
        'INVALID_DESCRIPTION',
        'NAME_TAKEN',
        'LIMIT_EXCEEDED',
      ],
    },
    listOwnEntries: {
      ...read,
      tag: 'name-entry',
      path: '/v0/entry/all',
      summary: 'The live entries of the user, with their subscriptions.',
      response: OwnEntriesAnswer,
    },
    registerUser: {
      ...submission,
      tag: 'users',
      path: '/v0/register',
      summary: 'Gives the user of the token a party; a second time finds the same.',
      body: RegisterRequest,
      bodyOptional: true,
      response: PartyIdAnswer,
      errors: submitErrors,
    },
    createUser: {
      ...submission,
      tag: 'users',
      auth: 'admin',
      path: '/v0/admin/users',
      summary: 'Gives a named user a party.',
      body: CreateUserRequest,
      response: PartyIdAnswer,
      errors: [...submitErrors, 'INVALID_PARTY', 'USER_EXISTS'],
    },
    getValidatorUser: {
      ...read,
      tag: 'users',
      auth: 'none',
      path: '/v0/validator-user',
      summary: "The operator of this validator: its user and that user's party.",
      response: ValidatorUserAnswer,
    },
    getUserStatus: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/user-status',
      summary: 'Whether the user of the token is registered.',
      response: UserStatusAnswer,
    },
    tap: {
      ...submission,
      tag: 'wallet',
      path: '/v0/wallet/tap',
      summary: 'Coin for nothing, in a development network.',
      body: TapRequest,
      response: TapAnswer,
      errors: [...submitErrors, 'DEVNET_ONLY'],
    },
    getBalance: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/balance',
      summary: 'What the user holds, unlocked and locked.',
      response: BalanceAnswer,
    },
    listCoins: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/coins',
      summary: 'The contracts behind the balance.',
      response: CoinsAnswer,
    },
    listSubscriptionRequests: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/subscription-requests',
      summary: 'Requests that wait for the user.',
      response: SubscriptionRequestsAnswer,
    },
    getSubscriptionRequest: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/subscription-requests/{contract_id}',
      summary: 'One request that waits for the user.',
      params: oneContract,
      response: Contract,
      errors: [...readErrors, 'CONTRACT_NOT_FOUND'],
    },
    acceptSubscriptionRequest: {
      ...submission,
      tag: 'wallet',
      path: '/v0/wallet/subscription-requests/{contract_id}/accept',
      summary: 'Accepts a request and locks the coin of its first payment.',
      params: oneContract,
      response: AcceptAnswer,
      errors: [...submitErrors, 'CONTRACT_NOT_FOUND', 'INSUFFICIENT_FUNDS', 'LIMIT_EXCEEDED'],
    },
    rejectSubscriptionRequest: {
      ...submission,
      tag: 'wallet',
      path: '/v0/wallet/subscription-requests/{contract_id}/reject',
      summary: 'Rejects a request.',
      params: oneContract,
      response: null,
      errors: [...submitErrors, 'CONTRACT_NOT_FOUND'],
    },
    listInitialPayments: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/subscription-initial-payments',
      summary: 'First payments that wait for the operator.',
      response: InitialPaymentsAnswer,
    },
    listSubscriptions: {
      ...read,
      tag: 'wallet',
      path: '/v0/wallet/subscriptions',
      summary: 'Subscriptions of the user, idle or with a payment under way.',
      response: SubscriptionsAnswer,
    },
  }),
} as const

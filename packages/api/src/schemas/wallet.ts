/** Name-entry and wallet shapes (D-19, D-20). */
import { Type } from 'typebox'
import { Contract, ContractWithState } from './contracts.ts'
import { ContractId, Decimal, DecimalInput, Party } from './scalars.ts'

/** Whatever the texts are: the rules of D-17 are answered by their own codes. */
export const CreateEntryRequest = Type.Object(
  { name: Type.String(), url: Type.String(), description: Type.String() },
  { title: 'CreateEntryRequest' },
)

export const CreateEntryAnswer = Type.Object(
  {
    entryContextCid: ContractId,
    subscriptionRequestCid: ContractId,
    name: Type.String(),
    url: Type.String(),
    description: Type.String(),
  },
  { title: 'CreateEntryAnswer' },
)

export const OwnEntriesAnswer = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        contractId: ContractId,
        name: Type.String(),
        amount: Decimal,
        unit: Type.String(),
        expiresAt: Type.String({ description: 'Epoch milliseconds.' }),
        paymentInterval: Type.String({ description: 'Microseconds.' }),
        paymentDuration: Type.String({ description: 'Microseconds.' }),
      }),
    ),
  },
  { title: 'OwnEntriesAnswer' },
)

/** Nothing in it counts: the user is the token's. */
export const RegisterRequest = Type.Union([Type.Object({}), Type.Null()], {
  title: 'RegisterRequest',
})

export const PartyIdAnswer = Type.Object({ party_id: Party }, { title: 'PartyIdAnswer' })

/** The specification's UserIdString. */
const UserId = Type.String({
  pattern: "^[a-zA-Z0-9@^$.!`\\-#+'~_|:()]{1,128}$",
  description: 'A user id of the ledger interface.',
})

export const CreateUserRequest = Type.Object(
  {
    name: UserId,
    party_id: Type.Optional(Type.Union([Party, Type.Null()])),
    createPartyIfMissing: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  },
  { title: 'CreateUserRequest' },
)

export const ValidatorUserAnswer = Type.Object(
  { party_id: Party, user_name: Type.String(), featured: Type.Boolean() },
  { title: 'ValidatorUserAnswer' },
)

export const UserStatusAnswer = Type.Object(
  {
    party_id: Type.String({ description: 'Empty while the user is not registered.' }),
    user_onboarded: Type.Boolean(),
    user_wallet_installed: Type.Boolean(),
    has_featured_app_right: Type.Boolean(),
  },
  { title: 'UserStatusAnswer' },
)

/** The specification's LedgerString: it deduplicates repeated requests. */
const CommandId = Type.String({ pattern: '^[A-Za-z0-9#:\\-_/ .]{1,255}$' })

export const TapRequest = Type.Object(
  { amount: DecimalInput, command_id: Type.Optional(Type.Union([CommandId, Type.Null()])) },
  { title: 'TapRequest', description: 'amount is in USD.' },
)

export const TapAnswer = Type.Object({ contract_id: ContractId }, { title: 'TapAnswer' })

export const BalanceAnswer = Type.Object(
  {
    round: Type.Integer({ minimum: 0 }),
    effective_unlocked_qty: Decimal,
    effective_locked_qty: Decimal,
    total_holding_fees: Decimal,
  },
  { title: 'BalanceAnswer' },
)

const CoinPosition = Type.Object(
  {
    contract: ContractWithState,
    round: Type.Integer({ minimum: 0 }),
    accrued_holding_fee: Decimal,
    effective_amount: Decimal,
  },
  { title: 'CoinPosition' },
)

export const CoinsAnswer = Type.Object(
  { coins: Type.Array(CoinPosition), locked_coins: Type.Array(CoinPosition) },
  { title: 'CoinsAnswer' },
)

export const SubscriptionRequestsAnswer = Type.Object(
  { subscription_requests: Type.Array(Contract) },
  { title: 'SubscriptionRequestsAnswer' },
)

export const AcceptAnswer = Type.Object(
  { initial_payment_contract_id: ContractId },
  { title: 'AcceptAnswer' },
)

export const InitialPaymentsAnswer = Type.Object(
  { initial_payments: Type.Array(Contract) },
  { title: 'InitialPaymentsAnswer' },
)

export const SubscriptionsAnswer = Type.Object(
  {
    subscriptions: Type.Array(
      Type.Object({
        subscription: Contract,
        state: Type.Union([Type.Object({ idle: Contract }), Type.Object({ payment: Contract })]),
      }),
    ),
  },
  { title: 'SubscriptionsAnswer' },
)

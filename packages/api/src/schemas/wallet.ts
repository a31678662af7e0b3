/** Name-entry and wallet shapes (D-19, D-20). */
import { Type } from 'typebox'
import { Contract, ContractWithState } from './contracts.ts'
import { ContractId, Decimal, DecimalInput, PAGE_SIZE_MAX, Party, Time } from './scalars.ts'

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

/** UserId (docs/upstream.md §L4.8). */
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

/** LedgerString (docs/upstream.md §L4.8): it deduplicates repeated requests. */
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

/** Absent and null are false: auto-renewal is opted into (D-21). */
export const AcceptRequest = Type.Union(
  [
    Type.Object({ auto_renew: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])) }),
    Type.Null(),
  ],
  { title: 'AcceptRequest' },
)

export const AcceptAnswer = Type.Object(
  { initial_payment_contract_id: ContractId },
  { title: 'AcceptAnswer' },
)

export const InitialPaymentsAnswer = Type.Object(
  { initial_payments: Type.Array(Contract) },
  { title: 'InitialPaymentsAnswer' },
)

const AutoRenew = Type.Boolean({
  description: 'Whether the wallet pays a renewal that is due by itself.',
})

export const SubscriptionsAnswer = Type.Object(
  {
    subscriptions: Type.Array(
      Type.Object({
        subscription: Contract,
        state: Type.Union([Type.Object({ idle: Contract }), Type.Object({ payment: Contract })]),
        auto_renew: AutoRenew,
      }),
    ),
  },
  { title: 'SubscriptionsAnswer' },
)

export const AutoRenewRequest = Type.Object(
  { enabled: Type.Boolean() },
  { title: 'AutoRenewRequest' },
)

export const AutoRenewAnswer = Type.Object({ auto_renew: AutoRenew }, { title: 'AutoRenewAnswer' })

export const PayAnswer = Type.Object({ payment_contract_id: ContractId }, { title: 'PayAnswer' })

/** Free texts of a transfer; the ledger takes well-formed ones of at most so many UTF-16 units. */
const TRANSFER_TEXT_LENGTH_MAX = 1024
const WELL_FORMED = '^\\P{Cs}*$'

export const CreateTransferRequest = Type.Object(
  {
    receiver_party_id: Party,
    amount: DecimalInput,
    description: Type.String({ pattern: WELL_FORMED, maxLength: TRANSFER_TEXT_LENGTH_MAX }),
    expires_at: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Microseconds since the epoch; from then on the offer cannot be accepted.',
    }),
    tracking_id: Type.String({
      pattern: WELL_FORMED,
      minLength: 1,
      maxLength: TRANSFER_TEXT_LENGTH_MAX,
      description: 'A second transfer of the user with the same one is refused.',
    }),
  },
  { title: 'CreateTransferRequest', description: 'amount is in coin.' },
)

/** What became of an offer: waiting, taken, or (an empty object) returned to its sender. */
export const TransferAnswer = Type.Object(
  {
    output: Type.Union([
      Type.Object({ transfer_instruction_cid: ContractId }),
      Type.Object({ receiver_holding_cids: Type.Array(ContractId) }),
      Type.Object({}),
    ]),
    sender_change_cids: Type.Array(ContractId),
    meta: Type.Record(Type.String(), Type.String()),
  },
  { title: 'TransferAnswer' },
)

export const TransfersAnswer = Type.Object(
  { transfers: Type.Array(Contract) },
  { title: 'TransfersAnswer', description: 'Open offers that the user made or may take.' },
)

export const TransactionsRequest = Type.Object(
  {
    page_size: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
    begin_after_id: Type.Optional(
      Type.Union([Type.String({ pattern: '^([0-9]{16}:[0-9]{4})?$' }), Type.Null()], {
        description:
          'event_id of the last item of the page before. An empty text is as good as none.',
      }),
    ),
  },
  { title: 'TransactionsRequest' },
)

const PartyAndAmount = Type.Object(
  { party: Party, amount: Type.String({ description: 'A decimal; negative for what was spent.' }) },
  { title: 'PartyAndAmount' },
)

const nullableText = Type.Union([Type.String(), Type.Null()])

const baseItem = {
  transaction_subtype: Type.Object({
    template_id: Type.String(),
    choice: Type.String(),
    coin_operation: nullableText,
    interface_id: nullableText,
  }),
  event_id: Type.String({ description: 'The same as in the activity history.' }),
  date: Time,
}

const TransferItem = Type.Object(
  {
    transaction_type: Type.Literal('transfer'),
    ...baseItem,
    sender: PartyAndAmount,
    receivers: Type.Array(PartyAndAmount),
    holding_fees: Decimal,
    app_rewards_used: Decimal,
    validator_rewards_used: Decimal,
    sv_rewards_used: Decimal,
    development_fund_coupons_used: Decimal,
    transfer_instruction_receiver: nullableText,
    transfer_instruction_amount: nullableText,
    transfer_instruction_cid: nullableText,
    description: nullableText,
  },
  { title: 'TransferItem' },
)

const BalanceChangeItem = Type.Object(
  {
    transaction_type: Type.Literal('balance_change'),
    ...baseItem,
    receivers: Type.Array(PartyAndAmount),
    transfer_instruction_cid: nullableText,
  },
  { title: 'BalanceChangeItem' },
)

const NotificationItem = Type.Object(
  {
    transaction_type: Type.Literal('notification'),
    ...baseItem,
    details: Type.String({ description: 'What it is about, e.g. the subscription that ran out.' }),
  },
  { title: 'NotificationItem' },
)

export const TransactionsAnswer = Type.Object(
  { items: Type.Array(Type.Union([TransferItem, BalanceChangeItem, NotificationItem])) },
  { title: 'TransactionsAnswer', description: 'Newest first.' },
)

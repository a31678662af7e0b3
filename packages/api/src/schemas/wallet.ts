/** Name-entry and wallet shapes (D-19, D-20). */
import { DESCRIPTION_UNITS_MAX, NAME_LENGTH_MAX, URL_LENGTH_MAX } from '@quorumscan/verifier'
import { Type } from 'typebox'
import { Contract, ContractWithState } from './contracts.ts'
import { LEDGER_STRING_PATTERN, USER_ID_PATTERN } from './ledger/grammar.ts'
import { about, component, formed, nullable, optional, part } from './members.ts'
import {
  ContractId,
  Decimal,
  DecimalInput,
  PAGE_SIZE_MAX,
  Party,
  Time,
  WELL_FORMED_PATTERN,
} from './scalars.ts'

/** Whatever the texts are: the rules of D-17 are answered by their own codes. */
export const CreateEntryRequest = component('CreateEntryRequest', 'A name to be registered.', {
  name: about(Type.String(), 'The whole name: 1 to 46 of `a-z0-9_-`, and the suffix.', {
    pattern: '^[a-z0-9_-]{1,46}\\.unverified\\.ns$',
    maxLength: NAME_LENGTH_MAX,
  }),
  url: about(Type.String(), 'Empty, or an http(s) address in printable ASCII.', {
    pattern: '^(https?://[!-~]+)?$',
    maxLength: URL_LENGTH_MAX,
  }),
  description: about(
    Type.String(),
    'At most 140 UTF-16 units, without control and bidirectional-override characters.',
    { maxLength: DESCRIPTION_UNITS_MAX },
  ),
})

export const CreateEntryAnswer = component(
  'CreateEntryAnswer',
  'The request that waits for its payment.',
  {
    entryContextCid: about(ContractId, 'Ties the name to its subscription.'),
    subscriptionRequestCid: about(ContractId, 'What to accept in the wallet.'),
    name: Type.String({ description: 'As requested.' }),
    url: Type.String({ description: 'As requested.' }),
    description: Type.String({ description: 'As requested.' }),
  },
)

export const OwnEntriesAnswer = component('OwnEntriesAnswer', "The user's names.", {
  entries: Type.Array(
    Type.Object({
      contractId: about(ContractId, 'The AnsEntry.'),
      name: Type.String({ description: 'The whole name.' }),
      amount: about(Decimal, 'What a renewal costs.'),
      unit: Type.String({ description: 'In which unit: `USDUnit`.' }),
      expiresAt: Type.String({ description: 'When it expires, in epoch milliseconds.' }),
      paymentInterval: Type.String({ description: 'What a payment adds, in microseconds.' }),
      paymentDuration: Type.String({
        description: 'How long before its end it can be renewed, in microseconds.',
      }),
    }),
    { description: 'Those that are live.' },
  ),
})

/** Nothing in it counts: the user is the token's. */
export const RegisterRequest = Type.Union([Type.Object({}), Type.Null()], {
  title: 'RegisterRequest',
  description: 'Nothing in it counts: the user is that of the token.',
})

export const PartyIdAnswer = component('PartyIdAnswer', 'The party.', {
  party_id: about(Party, 'The party of the user.'),
})

const UserId = formed(USER_ID_PATTERN, 'A user id of the ledger interface.')

export const CreateUserRequest = component('CreateUserRequest', 'A user to be given a party.', {
  name: UserId,
  party_id: optional(Party, 'The party; absent: a new one, whose hint is the name.'),
  createPartyIfMissing: optional(Type.Boolean(), 'Whether `party_id` may be new.'),
})

export const ValidatorUserAnswer = component('ValidatorUserAnswer', 'Who operates the validator.', {
  party_id: about(Party, 'Its party.'),
  user_name: Type.String({ description: 'The user that administers this validator.' }),
  featured: Type.Boolean({ description: 'Always false: there are no featured apps.' }),
})

export const UserStatusAnswer = component('UserStatusAnswer', 'Whether the user is registered.', {
  party_id: Type.String({ description: 'Empty while the user is not registered.' }),
  user_onboarded: Type.Boolean({ description: 'Whether the user is registered.' }),
  user_wallet_installed: Type.Boolean({ description: 'The same: every user has a wallet.' }),
  has_featured_app_right: Type.Boolean({
    description: 'Always false: there are no such rights.',
  }),
})

/** LedgerString (docs/upstream.md §L4.8): it deduplicates repeated requests. */
const CommandId = formed(LEDGER_STRING_PATTERN, 'A second request with the same one is refused.')

export const TapRequest = component('TapRequest', 'Coin for nothing.', {
  amount: about(DecimalInput, 'How much, in USD.'),
  command_id: optional(CommandId, 'A second tap with the same one is refused.'),
})

export const TapAnswer = component('TapAnswer', 'The coin that was made.', {
  contract_id: about(ContractId, 'The coin.'),
})

const Round = Type.Integer({ minimum: 0, description: 'The newest open round.' })
const zero = about(Decimal, 'Always zero.')

export const BalanceAnswer = component('BalanceAnswer', 'What the user holds.', {
  round: Round,
  effective_unlocked_qty: about(Decimal, 'Coin that can be spent.'),
  effective_locked_qty: about(Decimal, 'Coin locked in payments and offers.'),
  total_holding_fees: zero,
})

const CoinPosition = component('CoinPosition', 'One coin.', {
  contract: ContractWithState,
  round: Round,
  accrued_holding_fee: zero,
  effective_amount: about(Decimal, 'What it is worth.'),
})

export const CoinsAnswer = component('CoinsAnswer', 'The contracts behind the balance.', {
  coins: Type.Array(CoinPosition, { description: 'Those that can be spent.' }),
  locked_coins: Type.Array(CoinPosition, { description: 'Those that are locked.' }),
})

export const SubscriptionRequestsAnswer = component(
  'SubscriptionRequestsAnswer',
  'What waits for the user.',
  {
    subscription_requests: Type.Array(Contract, { description: 'SubscriptionRequest contracts.' }),
  },
)

/** Absent and null are false: auto-renewal is opted into (D-21). */
export const AcceptRequest = Type.Union(
  [
    Type.Object({
      auto_renew: optional(
        Type.Boolean(),
        'Whether the wallet pays renewals by itself; absent: no.',
      ),
    }),
    Type.Null(),
  ],
  { title: 'AcceptRequest', description: 'How to accept.' },
)

export const AcceptAnswer = component('AcceptAnswer', 'The first payment.', {
  initial_payment_contract_id: about(ContractId, 'The payment, which waits for the operator.'),
})

export const InitialPaymentsAnswer = component(
  'InitialPaymentsAnswer',
  'Payments that wait for the operator.',
  {
    initial_payments: Type.Array(Contract, {
      description: 'SubscriptionInitialPayment contracts.',
    }),
  },
)

const AutoRenew = Type.Boolean({
  description: 'Whether the wallet pays a renewal that is due by itself.',
})

export const SubscriptionsAnswer = component('SubscriptionsAnswer', 'What the user pays for.', {
  subscriptions: Type.Array(
    Type.Object({
      subscription: about(Contract, 'The subscription, which no renewal changes.'),
      state: Type.Union(
        [
          Type.Object({ idle: about(Contract, 'It waits for its next payment.') }),
          Type.Object({ payment: about(Contract, 'A payment is under way.') }),
        ],
        { description: 'Where it stands.' },
      ),
      auto_renew: AutoRenew,
    }),
    { description: 'One a name.' },
  ),
})

export const AutoRenewRequest = component(
  'AutoRenewRequest',
  'Whether the wallet pays renewals by itself.',
  { enabled: Type.Boolean({ description: 'Whether it shall.' }) },
)

export const AutoRenewAnswer = component('AutoRenewAnswer', 'What holds from here on.', {
  auto_renew: AutoRenew,
})

export const PayAnswer = component('PayAnswer', 'The payment of a renewal.', {
  payment_contract_id: about(ContractId, 'The payment, which waits for the operator.'),
})

/** Free texts of a transfer; the ledger takes well-formed ones of at most so many UTF-16 units. */
const TRANSFER_TEXT_LENGTH_MAX = 1024

export const CreateTransferRequest = component('CreateTransferRequest', 'An offer of coin.', {
  receiver_party_id: about(Party, 'Whom it is for.'),
  amount: about(DecimalInput, 'How much, in coin.'),
  description: Type.String({
    pattern: WELL_FORMED_PATTERN,
    maxLength: TRANSFER_TEXT_LENGTH_MAX,
    description: 'What the receiver reads.',
  }),
  expires_at: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Microseconds since the epoch; from then on the offer cannot be accepted.',
  }),
  tracking_id: Type.String({
    pattern: WELL_FORMED_PATTERN,
    minLength: 1,
    maxLength: TRANSFER_TEXT_LENGTH_MAX,
    description: 'A second transfer of the user with the same one is refused.',
  }),
})

/** What became of an offer: waiting, taken, or (an empty object) returned to its sender. */
export const TransferAnswer = component('TransferAnswer', 'What became of an offer.', {
  output: Type.Union(
    [
      Type.Object({ transfer_instruction_cid: about(ContractId, 'The offer, which waits.') }),
      Type.Object({
        receiver_holding_cids: Type.Array(ContractId, {
          description: 'The coin of the receiver.',
        }),
      }),
      Type.Object({}),
    ],
    { description: 'The offer, or the coin; neither where it went back to its sender.' },
  ),
  sender_change_cids: Type.Array(ContractId, { description: 'What the sender got back.' }),
  meta: Type.Record(Type.String(), Type.String(), { description: 'Always empty.' }),
})

export const TransfersAnswer = component(
  'TransfersAnswer',
  'Open offers that the user made or may take.',
  { transfers: Type.Array(Contract, { description: 'TransferInstruction contracts.' }) },
)

export const TransactionsRequest = component('TransactionsRequest', 'Which page of the history.', {
  page_size: Type.Integer({
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: 'The largest number of items in the answer.',
  }),
  begin_after_id: Type.Optional(
    Type.Union([Type.String({ pattern: '^([0-9]{16}:[0-9]{4})?$' }), Type.Null()], {
      description:
        'event_id of the last item of the page before. An empty text is as good as none.',
    }),
  ),
})

const PartyAndAmount = component('PartyAndAmount', 'By how much the coin of a party changed.', {
  party: about(Party, 'Whose coin changed.'),
  amount: Type.String({ description: 'A decimal; negative for what was spent.' }),
})

const nullableText = (description: string) => about(nullable(Type.String()), description)

const baseItem = {
  transaction_subtype: part('What was done.', {
    template_id: Type.String({ description: 'Of which template.' }),
    choice: Type.String({ description: 'The choice that was exercised.' }),
    coin_operation: nullableText('Always null.'),
    interface_id: nullableText('The interface of the choice, if any.'),
  }),
  event_id: Type.String({ description: 'The same as in the activity history.' }),
  date: about(Time, 'The record time.'),
}

const receivers = Type.Array(PartyAndAmount, { description: 'Who received.' })
const kind = <const Name extends string>(name: Name) =>
  Type.Literal(name, { description: 'What kind of item it is.' })

const TransferItem = component('TransferItem', 'Coin that moved.', {
  transaction_type: kind('transfer'),
  ...baseItem,
  sender: about(PartyAndAmount, 'Who paid.'),
  receivers,
  holding_fees: zero,
  app_rewards_used: zero,
  validator_rewards_used: zero,
  sv_rewards_used: zero,
  development_fund_coupons_used: zero,
  transfer_instruction_receiver: nullableText('Of an offer: whom it is for.'),
  transfer_instruction_amount: nullableText('Of an offer: how much.'),
  transfer_instruction_cid: nullableText('The offer that was made or taken.'),
  description: nullableText('What the sender wrote.'),
})

const BalanceChangeItem = component('BalanceChangeItem', 'Coin that came to be or was unlocked.', {
  transaction_type: kind('balance_change'),
  ...baseItem,
  receivers,
  transfer_instruction_cid: nullableText('The offer that was ended.'),
})

const NotificationItem = component('NotificationItem', 'Something to know that moved no coin.', {
  transaction_type: kind('notification'),
  ...baseItem,
  details: Type.String({ description: 'What it is about, e.g. the subscription that ran out.' }),
})

export const TransactionsAnswer = component('TransactionsAnswer', 'Newest first.', {
  items: Type.Array(Type.Union([TransferItem, BalanceChangeItem, NotificationItem]), {
    description: 'Told apart by `transaction_type`.',
  }),
})

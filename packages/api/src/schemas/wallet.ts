/** Name-entry and wallet shapes (D-19, D-20). */
import {
  DESCRIPTION_UNITS_MAX,
  ENTRY_NAME_LENGTH_MAX,
  PAGE_SIZE_MAX,
  URL_LENGTH_MAX,
} from '@quorumscan/verifier'
import { Type } from 'typebox'
import { Contract, ContractWithState } from './contracts.ts'
import { LEDGER_STRING_PATTERN, USER_ID_PATTERN } from './ledger/grammar.ts'
import * as m from './members.ts'
import * as scalars from './scalars.ts'

/** Whatever the texts are: the rules of D-17 are answered by their own codes. */
export const CreateEntryRequest = m.component('CreateEntryRequest', 'A name to be registered.', {
  name: m.about(Type.String(), 'The whole name: 1 to 46 of `a-z0-9_-`, and the suffix.', {
    pattern: '^[a-z0-9_-]{1,46}\\.unverified\\.ns$',
    maxLength: ENTRY_NAME_LENGTH_MAX,
  }),
  url: m.about(Type.String(), 'Empty, or an http(s) address in printable ASCII.', {
    pattern: '^(https?://[!-~]+)?$',
    maxLength: URL_LENGTH_MAX,
  }),
  description: m.about(
    Type.String(),
    'At most 140 UTF-16 units, without control and bidirectional-override characters.',
    { maxLength: DESCRIPTION_UNITS_MAX },
  ),
})

export const CreateEntryAnswer = m.component('CreateEntryAnswer', 'The request to pay for.', {
  entryContextCid: m.about(scalars.ContractId, 'Connects the name with its subscription.'),
  subscriptionRequestCid: m.about(scalars.ContractId, 'The request to accept in the wallet.'),
  name: m.string('As requested.'),
  url: m.string('As requested.'),
  description: m.string('As requested.'),
})

/** The pages of a list: the newest first. */
export const pageQuery = {
  page_size: m.omittable(
    Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
    'The largest number of rows in the answer, which may have fewer. Absent: 100.',
  ),
  page_token: Type.Optional(scalars.PageToken),
}

export const walletListQuery = {
  order: Type.Optional(
    m.either('The order of the list. Absent: `newest`.', [
      Type.Literal('newest', { description: 'The newest first.' }),
      Type.Literal('amount', { description: 'The largest amount first.' }),
    ]),
  ),
  ...pageQuery,
}

const NextPageToken = m.nullableText('Asks for the next page in this order; null on the last.')

export const OwnEntriesAnswer = m.component('OwnEntriesAnswer', "The user's names.", {
  entries: m.rows('The live entries.', {
    contractId: m.about(scalars.ContractId, 'The AnsEntry.'),
    name: m.string('The whole name.'),
    amount: m.about(scalars.Decimal, 'The price of a renewal, an amount of USD.'),
    unit: m.string('The unit: `USDUnit`.'),
    expiresAt: m.string('When it expires, in epoch milliseconds.'),
    paymentInterval: m.string('The time that a payment adds, in microseconds.'),
    paymentDuration: m.string('How long before its end it can be renewed, in microseconds.'),
  }),
  next_page_token: NextPageToken,
})

/** Nothing in it counts: the user is the token's. */
export const RegisterRequest = Type.Union([Type.Object({}), Type.Null()], {
  title: 'RegisterRequest',
  description: 'Nothing in it counts: the user is that of the token.',
})

export const PartyIdAnswer = m.component('PartyIdAnswer', 'The party.', {
  party_id: m.about(scalars.Party, 'The party of the user.'),
})

const UserId = m.formed(USER_ID_PATTERN, 'A user id of the ledger interface.')

export const CreateUserRequest = m.component('CreateUserRequest', 'A user that receives a party.', {
  name: UserId,
  party_id: m.optional(scalars.Party, 'The party; absent: a new one, whose hint is the name.'),
  createPartyIfMissing: m.optional(
    Type.Boolean(),
    'Whether a party may be made. Absent: only if there is no `party_id`.',
  ),
})

export const ValidatorUserAnswer = m.component(
  'ValidatorUserAnswer',
  'The operator of the validator.',
  {
    party_id: m.about(scalars.Party, 'Its party.'),
    user_name: m.string('The user that administers this validator.'),
    featured: m.boolean('Always false: there are no featured apps.'),
  },
)

export const UserStatusAnswer = m.component('UserStatusAnswer', 'Whether the user is registered.', {
  party_id: m.string('Empty while the user is not registered.'),
  user_onboarded: m.boolean('Whether the user is registered.'),
  user_wallet_installed: m.boolean('The same: every user has a wallet.'),
  has_featured_app_right: m.boolean('Always false: there are no such rights.'),
})

/** LedgerString (docs/upstream.md §L4.8): it deduplicates repeated requests. */
const CommandId = m.formed(LEDGER_STRING_PATTERN, 'A repeat with the same one has no effect.')

export const TapRequest = m.component('TapRequest', 'Coin in a development network.', {
  amount: m.about(scalars.DecimalInput, 'What the coin is worth, an amount of USD.'),
  command_id: m.optional(
    CommandId,
    'A repeat with the same one within 31 days gives no coin, and returns the first result.',
  ),
})

export const TapAnswer = m.component('TapAnswer', 'The new coin.', {
  contract_id: m.about(scalars.ContractId, 'The coin.'),
  update_id: m.optional(Type.String(), 'The update, of a tap with a `command_id`.'),
  offset: m.optional(Type.Integer(), 'The ledger offset of the update.'),
  record_time: m.optional(Type.String(), 'The record time of the update, ISO-8601 UTC.'),
})

const Round = m.integer(0, 'The newest open round.')
const zero = m.about(scalars.Decimal, 'Always zero, an amount of coin.')

export const BalanceAnswer = m.component('BalanceAnswer', 'What the user holds.', {
  round: Round,
  effective_unlocked_qty: m.about(scalars.Decimal, 'What can be spent, an amount of coin.'),
  effective_locked_qty: m.about(
    scalars.Decimal,
    'What is locked in payments and offers, an amount of coin.',
  ),
  total_holding_fees: zero,
})

const CoinPosition = m.component('CoinPosition', 'One coin.', {
  contract: ContractWithState,
  round: Round,
  accrued_holding_fee: zero,
  effective_amount: m.about(scalars.Decimal, 'How much it is, an amount of coin.'),
})

export const CoinsAnswer = m.component('CoinsAnswer', 'The contracts behind the balance.', {
  coins: m.array('Those that can be spent.', CoinPosition),
  locked_coins: m.array('Those that are locked.', CoinPosition),
  next_page_token: NextPageToken,
})

export const SubscriptionRequestsAnswer = m.component(
  'SubscriptionRequestsAnswer',
  'Requests to the user.',
  { subscription_requests: m.array('SubscriptionRequest contracts.', Contract) },
)

/** Absent and null are false: auto-renewal is opted into (D-21). */
export const AcceptRequest = Type.Union(
  [
    Type.Object({
      auto_renew: m.optional(Type.Boolean(), 'Whether the wallet pays renewals; absent: no.'),
    }),
    Type.Null(),
  ],
  { title: 'AcceptRequest', description: 'How to accept.' },
)

export const AcceptAnswer = m.component('AcceptAnswer', 'The first payment.', {
  initial_payment_contract_id: m.about(scalars.ContractId, 'The payment.'),
})

export const InitialPaymentsAnswer = m.component(
  'InitialPaymentsAnswer',
  'Payments that the operator collects.',
  { initial_payments: m.array('SubscriptionInitialPayment contracts.', Contract) },
)

const AutoRenew = m.boolean('Whether the wallet pays renewals that are due.')

export const SubscriptionsAnswer = m.component('SubscriptionsAnswer', 'The subscriptions.', {
  subscriptions: m.rows('One for each name.', {
    subscription: m.about(Contract, 'The subscription; a renewal does not change it.'),
    state: m.either('Its state.', [
      Type.Object({ idle: m.about(Contract, 'It waits for its next payment.') }),
      Type.Object({ payment: m.about(Contract, 'A payment is in progress.') }),
    ]),
    auto_renew: AutoRenew,
  }),
  next_page_token: NextPageToken,
})

export const AutoRenewRequest = m.component(
  'AutoRenewRequest',
  'Whether the wallet pays renewals.',
  { enabled: m.boolean('The new setting.') },
)

export const AutoRenewAnswer = m.component('AutoRenewAnswer', 'The new setting.', {
  auto_renew: AutoRenew,
})

export const PayAnswer = m.component('PayAnswer', 'The payment of a renewal.', {
  payment_contract_id: m.about(scalars.ContractId, 'The payment.'),
})

/** Free texts of a transfer; the ledger takes well-formed ones of at most this number of UTF-16 units. */
const TRANSFER_TEXT_LENGTH_MAX = 1024

const transferText = (description: string, minLength = 0) =>
  m.formed(scalars.WELL_FORMED_PATTERN, description, {
    ...(minLength > 0 && { minLength }),
    maxLength: TRANSFER_TEXT_LENGTH_MAX,
  })

export const CreateTransferRequest = m.component('CreateTransferRequest', 'An offer of coin.', {
  receiver_party_id: m.about(scalars.Party, 'The receiver.'),
  amount: m.about(scalars.DecimalInput, 'How much is offered, an amount of coin.'),
  description: transferText('A text for the receiver.'),
  expires_at: m.integer(
    0,
    'When the offer expires, in microseconds since the epoch: at most 30 days ahead.',
    {
      maximum: Number.MAX_SAFE_INTEGER,
    },
  ),
  tracking_id: transferText(
    'A second transfer of the user with the same one is refused, until a day after `expires_at`.',
    1,
  ),
})

/** The state of an offer: open, accepted, or (an empty object) returned to its sender. */
export const TransferAnswer = m.component('TransferAnswer', 'The state of an offer.', {
  output: m.either('The offer, or the coin; neither if the sender has it back.', [
    Type.Object({ transfer_instruction_cid: m.about(scalars.ContractId, 'The open offer.') }),
    Type.Object({
      receiver_holding_cids: m.array('The coin of the receiver.', scalars.ContractId),
    }),
    Type.Object({}),
  ]),
  sender_change_cids: m.array('The change of the sender.', scalars.ContractId),
  meta: m.record('The update: `update_id`, `offset`, `record_time`.', Type.String()),
})

export const TransfersAnswer = m.component('TransfersAnswer', 'Open offers by or for the user.', {
  transfers: m.array('TransferInstruction contracts.', Contract),
  next_page_token: NextPageToken,
})

export const TransactionsRequest = m.component(
  'TransactionsRequest',
  'Which page of the history.',
  {
    page_size: scalars.pageSize('items'),
    begin_after_id: scalars.afterEventId(
      'The event_id of the last item of the page before. Empty: the first page.',
    ),
  },
)

const PartyAndAmount = m.component('PartyAndAmount', 'A change of the coin of a party.', {
  party: m.about(scalars.Party, 'The party.'),
  amount: m.string('An amount of coin, a decimal; negative for what was spent.'),
})

const baseItem = {
  transaction_subtype: m.part('The action.', {
    template_id: m.string('The template.'),
    choice: m.string('The choice that was exercised.'),
    coin_operation: m.nullableText('Always null.'),
    interface_id: m.nullableText('The interface of the choice, if any.'),
  }),
  event_id: m.string('The same as in the activity history.'),
  date: m.about(scalars.Time, 'The record time.'),
}

const receivers = m.array('The receivers.', PartyAndAmount)
const kind = <const Name extends string>(name: Name) =>
  Type.Literal(name, { description: 'The kind of item.' })

const TransferItem = m.component('TransferItem', 'Coin that moved.', {
  transaction_type: kind('transfer'),
  ...baseItem,
  sender: m.about(PartyAndAmount, 'The sender.'),
  receivers,
  holding_fees: zero,
  app_rewards_used: zero,
  validator_rewards_used: zero,
  sv_rewards_used: zero,
  development_fund_coupons_used: zero,
  transfer_instruction_receiver: m.nullableText('The receiver of an offer.'),
  transfer_instruction_amount: m.nullableText('What was offered, an amount of coin.'),
  transfer_instruction_cid: m.nullableText('The offer that was made or accepted.'),
  description: m.nullableText('The text of the sender.'),
})

const BalanceChangeItem = m.component('BalanceChangeItem', 'Coin that was created or unlocked.', {
  transaction_type: kind('balance_change'),
  ...baseItem,
  receivers,
  transfer_instruction_cid: m.nullableText('The offer that was ended.'),
})

const NotificationItem = m.component('NotificationItem', 'News that moved no coin.', {
  transaction_type: kind('notification'),
  ...baseItem,
  details: m.string('The subject, such as an expired subscription.'),
})

export const TransactionsAnswer = m.component('TransactionsAnswer', 'Newest first.', {
  items: m.array(
    'By `transaction_type`.',
    Type.Union([TransferItem, BalanceChangeItem, NotificationItem]),
  ),
})

/** The activity history (D-24, D-25). */

import { type TProperties, Type } from 'typebox'
import * as m from './members.ts'
import {
  afterEventId,
  ContractId,
  Decimal,
  LedgerOffset,
  Party,
  pageSize,
  Quorum,
  Time,
} from './scalars.ts'

const EventId = m.formed(
  '^[0-9]{16}:[0-9]{4}$',
  '`<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text.',
)

/** How the order differs from what clients of the upstream network may expect (D-25). */
export const ACTIVITY_ORDER =
  'Oldest rows come first unless `sort_order` is `desc`. `begin_after_id` is an exclusive bound in this order. ' +
  'The scan interface of the upstream network has no `sort_order` and answers newest rows first; send `desc` for its order. '

/** Members of requests to nodes and to the proxy. */
const activitiesMembers = {
  page_size: pageSize('rows'),
  begin_after_id: afterEventId(
    'The event_id of the last row of the page before. Empty: the first page.',
  ),
  sort_order: m.optional(Type.Enum(['asc', 'desc']), '`asc` (oldest first) unless given.'),
  min_offset: m.optional(LedgerOffset, 'With proofs: read no older offset than this.'),
}

export const ActivitiesRequest = m.component('ActivitiesRequest', 'Which rows.', activitiesMembers)

/** The request to a node. */
export const NodeActivitiesRequest = m.component('NodeActivitiesRequest', 'Which rows.', {
  ...activitiesMembers,
  signers: m.optional(Quorum, 'With proofs: how many members must have signed.'),
})

/** First frame of the WebSocket at the path of `POST /v0/scan-proxy/activities`. */
export const ActivitiesStreamRequest = m.component('ActivitiesStreamRequest', 'It is empty.', {})

/** A frame of the server. */
export const ActivitiesNews = m.component(
  'ActivitiesNews',
  'There may be more rows in pages that are read at this offset, or at a later one.',
  { offset: m.about(LedgerOffset, 'The newest offset at which the ledger changed.') },
)

const zero = m.about(
  Decimal,
  'Always zero, an amount of coin: there are no fees and no such rewards.',
)

const Transfer = m.component(
  'ActivityTransfer',
  'There are no fees: those members are zeros. receivers and balance_changes have one row for each party. Locked coin counts as coin of its party; coin that is burned in the same transaction counts for no party.',
  {
    sender: m.part('The sender.', {
      party: m.about(Party, 'The party that paid.'),
      sender_change_fee: zero,
      sender_change_amount: m.about(Decimal, 'The change that it received, an amount of coin.'),
      sender_fee: zero,
      holding_fees: zero,
      input_coin_amount: m.about(Decimal, 'What went in, an amount of coin.'),
      input_app_reward_amount: zero,
      input_validator_reward_amount: zero,
      input_sv_reward_amount: zero,
      input_validator_faucet_amount: zero,
    }),
    receivers: m.rows('One row for each party.', {
      party: m.about(Party, 'The party that received.'),
      amount: m.about(Decimal, 'What it received, an amount of coin.'),
      receiver_fee: zero,
    }),
    balance_changes: m.rows('One row for each party whose coin changed.', {
      party: m.about(Party, 'The party.'),
      change_to_initial_amount_as_of_round_zero: m.about(
        Decimal,
        'The difference, an amount of coin; negative: less.',
      ),
      change_to_holding_fees_rate: zero,
    }),
    description: m.nullableText('The text of the sender.'),
    transferInstructionReceiver: m.orNull(Party, 'The receiver of an offer.'),
    transferInstructionAmount: m.orNull(Decimal, 'What was offered, an amount of coin.'),
    transferInstructionCid: m.orNull(ContractId, 'The offer that was made or accepted.'),
    transfer_kind: m.orNull(
      Type.Enum(['create_transfer_instruction', 'transfer_instruction_accept']),
      'Whether an offer was made or accepted; null for a transfer at once.',
    ),
  },
)

const NewCoin = m.component('ActivityNewCoin', 'Coin that was created.', {
  coin_owner: m.about(Party, 'The party that received it.'),
  coin_amount: m.about(Decimal, 'How much, an amount of coin.'),
})

const Abort = m.component('ActivityAbort', 'An offer that ended without a transfer.', {
  transfer_instruction_cid: m.about(ContractId, 'The offer.'),
  abort_kind: m.about(
    Type.Enum(['withdraw', 'reject']),
    'Whether its sender or its receiver ended it.',
  ),
})

const absent = (what: string) => Type.Null({ description: `Null: it is no ${what}.` })
const none = {
  transfer: absent('transfer'),
  mint: absent('mint'),
  tap: absent('tap'),
  abort_transfer_instruction: absent('end of an offer'),
}

const common = {
  event_id: EventId,
  date: m.about(Time, 'The record time.'),
  domain_id: m.string('The synchronizer.'),
  offset: m.formed('^(0|[1-9][0-9]*)$', 'The ledger offset, decimal.'),
  round: m.integer(0, 'The newest round that was open.'),
}

function activity<const Name extends string, Own extends TProperties>(type: Name, own: Own) {
  const activity_type = Type.Literal(type, {
    description: 'Which of the four members is not null.',
  })
  const members = { activity_type, ...common, ...none, ...own }
  return Type.Object(members as Omit<typeof members, keyof Own> & Own)
}

const Activity = Type.Union(
  [
    activity('transfer', { transfer: Transfer }),
    activity('mint', { mint: NewCoin }),
    activity('devnet_tap', { tap: NewCoin }),
    activity('abort_transfer_instruction', {
      round: Type.Null({ description: 'Null: no coin moved.' }),
      abort_transfer_instruction: Abort,
    }),
  ],
  {
    title: 'Activity',
    description: 'Exactly one of transfer, mint, tap and abort_transfer_instruction is not null.',
  },
)

export const ActivitiesAnswer = m.component('ActivitiesAnswer', 'A page of the history of coin.', {
  activities: m.array('In the order asked for.', Activity),
})

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
  'Oldest rows come first unless `sort_order` is `desc`, and `begin_after_id` is an exclusive bound in the direction of the walk. ' +
  'The scan interface of the upstream network differs: it answers newest rows first and has no `sort_order`; send `desc` for its order. '

/** What nodes and proxy are asked by. */
const activitiesMembers = {
  page_size: pageSize('rows'),
  begin_after_id: afterEventId(
    'event_id of the last row of the page before: an exclusive lower bound, with `desc` an upper one. An empty text is as good as none.',
  ),
  sort_order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc'), Type.Null()], {
      description: '`asc` (oldest first) unless given.',
    }),
  ),
  min_offset: m.optional(LedgerOffset, 'With proofs: read no older offset than this.'),
}

export const ActivitiesRequest = m.component(
  'ActivitiesRequest',
  'Which rows to show.',
  activitiesMembers,
)

/** As a node takes it. */
export const NodeActivitiesRequest = m.component('NodeActivitiesRequest', 'Which rows to show.', {
  ...activitiesMembers,
  signers: m.optional(Quorum, 'With proofs: how many members must have signed.'),
})

/** First frame of the WebSocket beside `POST /v0/scan-proxy/activities`. */
export const ActivitiesStreamRequest = m.component(
  'ActivitiesStreamRequest',
  'Asks for nothing but to be told.',
  {},
)

/** A frame of it. */
export const ActivitiesNews = m.component(
  'ActivitiesNews',
  'That there may be more rows: who reads a page at this offset, or behind it, sees them.',
  { offset: m.about(LedgerOffset, 'The newest at which the ledger changed.') },
)

const zero = m.about(Decimal, 'Always zero: there are no fees and no such rewards.')

const Transfer = m.component(
  'ActivityTransfer',
  'There are no fees: those members are zeros. receivers and balance_changes have one row a party. Coin that is locked still counts as its own, coin that is burned in the same transaction as that of nobody.',
  {
    sender: m.part('Whose coin went in.', {
      party: m.about(Party, 'Who paid.'),
      sender_change_fee: zero,
      sender_change_amount: m.about(Decimal, 'What came back as change.'),
      sender_fee: zero,
      holding_fees: zero,
      input_coin_amount: m.about(Decimal, 'The coin that went in.'),
      input_app_reward_amount: zero,
      input_validator_reward_amount: zero,
      input_sv_reward_amount: zero,
      input_validator_faucet_amount: zero,
    }),
    receivers: m.rows('One row a party.', {
      party: m.about(Party, 'Who received.'),
      amount: m.about(Decimal, 'How much coin.'),
      receiver_fee: zero,
    }),
    balance_changes: m.rows('One row a party whose coin changed.', {
      party: m.about(Party, 'Whose coin changed.'),
      change_to_initial_amount_as_of_round_zero: m.about(Decimal, 'By how much; negative: less.'),
      change_to_holding_fees_rate: zero,
    }),
    description: m.nullableText('What the sender wrote.'),
    transferInstructionReceiver: m.orNull(Party, 'Of an offer: whom it is for.'),
    transferInstructionAmount: m.orNull(Decimal, 'Of an offer: how much.'),
    transferInstructionCid: m.orNull(ContractId, 'The offer that was made or taken.'),
    transfer_kind: m.orNull(
      Type.Union([
        Type.Literal('create_transfer_instruction'),
        Type.Literal('transfer_instruction_accept'),
      ]),
      'Whether an offer was made or taken; null for a transfer at once.',
    ),
  },
)

const NewCoin = m.component('ActivityNewCoin', 'Coin that came to be.', {
  coin_owner: m.about(Party, 'Who got it.'),
  coin_amount: m.about(Decimal, 'How much.'),
})

const Abort = m.component('ActivityAbort', 'An offer that came to nothing.', {
  transfer_instruction_cid: m.about(ContractId, 'The offer.'),
  abort_kind: Type.Union([Type.Literal('withdraw'), Type.Literal('reject')], {
    description: 'Whether its sender or its receiver ended it.',
  }),
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

/** The activity history (D-24, D-25). */
import { Type } from 'typebox'
import { MaxAgeMs, Quorum } from './quorum.ts'
import { ContractId, Decimal, LedgerOffset, PAGE_SIZE_MAX, Party, Time } from './scalars.ts'

const nullable = <const Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

const EventId = Type.String({
  pattern: '^[0-9]{16}:[0-9]{4}$',
  description:
    '`<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text.',
})

/** How the order differs from what clients of the upstream network may expect (D-25). */
export const ACTIVITY_ORDER =
  'Oldest rows come first unless `sort_order` is `desc`, and `begin_after_id` is an exclusive bound in the direction of the walk. ' +
  'The scan interface of the upstream network differs: it answers newest rows first and has no `sort_order`; send `desc` for its order. '

export const ActivitiesRequest = Type.Object(
  {
    page_size: Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      description: 'The largest number of rows in the answer.',
    }),
    begin_after_id: Type.Optional(
      Type.Union([Type.String({ pattern: '^([0-9]{16}:[0-9]{4})?$' }), Type.Null()], {
        description:
          'event_id of the last row of the page before: an exclusive lower bound, with `desc` an upper one. An empty text is as good as none.',
      }),
    ),
    sort_order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc'), Type.Null()], {
        description: '`asc` (oldest first) unless given.',
      }),
    ),
  },
  { title: 'ActivitiesRequest' },
)

/** First frame of the WebSocket beside `POST /v0/scan-proxy/activities`; order and bounds are checked by the proxy. */
export const ActivitiesStreamRequest = Type.Object(
  {
    page_size: ActivitiesRequest.properties.page_size,
    begin_after_id: ActivitiesRequest.properties.begin_after_id,
    sort_order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Null()], {
        description: 'Only `asc`: what walks towards the oldest row ends there.',
      }),
    ),
    quorum: Type.Optional(Type.Union([Quorum, Type.Null()])),
    min_offset: Type.Optional(Type.Union([LedgerOffset, Type.Null()])),
    max_age_ms: Type.Optional(Type.Union([MaxAgeMs, Type.Null()])),
  },
  { title: 'ActivitiesStreamRequest' },
)
export type ActivitiesStreamRequest = Type.Static<typeof ActivitiesStreamRequest>

const Transfer = Type.Object(
  {
    sender: Type.Object({
      party: Party,
      sender_change_fee: Decimal,
      sender_change_amount: Decimal,
      sender_fee: Decimal,
      holding_fees: Decimal,
      input_coin_amount: Decimal,
      input_app_reward_amount: Decimal,
      input_validator_reward_amount: Decimal,
      input_sv_reward_amount: Decimal,
      input_validator_faucet_amount: Decimal,
    }),
    receivers: Type.Array(Type.Object({ party: Party, amount: Decimal, receiver_fee: Decimal })),
    balance_changes: Type.Array(
      Type.Object({
        party: Party,
        change_to_initial_amount_as_of_round_zero: Decimal,
        change_to_holding_fees_rate: Decimal,
      }),
    ),
    description: nullable(Type.String()),
    transferInstructionReceiver: nullable(Party),
    transferInstructionAmount: nullable(Decimal),
    transferInstructionCid: nullable(ContractId),
    transfer_kind: nullable(
      Type.Union([
        Type.Literal('create_transfer_instruction'),
        Type.Literal('transfer_instruction_accept'),
      ]),
    ),
  },
  {
    title: 'ActivityTransfer',
    description:
      'There are no fees: those members are zeros. receivers and balance_changes have one row a party. Coin that is locked still counts as its own, coin that is burned in the same transaction as that of nobody.',
  },
)

const NewCoin = Type.Object({ coin_owner: Party, coin_amount: Decimal })

const Abort = Type.Object({
  transfer_instruction_cid: ContractId,
  abort_kind: Type.Union([Type.Literal('withdraw'), Type.Literal('reject')]),
})

const none = { transfer: Type.Null(), mint: Type.Null(), tap: Type.Null() }
const noAbort = { abort_transfer_instruction: Type.Null() }
const Round = Type.Integer({ minimum: 0 })

const common = {
  event_id: EventId,
  date: Time,
  domain_id: Type.String({ description: 'The synchronizer.' }),
  offset: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'The ledger offset, decimal.' }),
}

const Activity = Type.Union(
  [
    Type.Object({
      activity_type: Type.Literal('transfer'),
      ...common,
      round: Round,
      ...none,
      transfer: Transfer,
      ...noAbort,
    }),
    Type.Object({
      activity_type: Type.Literal('mint'),
      ...common,
      round: Round,
      ...none,
      mint: NewCoin,
      ...noAbort,
    }),
    Type.Object({
      activity_type: Type.Literal('devnet_tap'),
      ...common,
      round: Round,
      ...none,
      tap: NewCoin,
      ...noAbort,
    }),
    Type.Object({
      activity_type: Type.Literal('abort_transfer_instruction'),
      ...common,
      round: Type.Null(),
      ...none,
      abort_transfer_instruction: Abort,
    }),
  ],
  {
    title: 'Activity',
    description: 'Exactly one of transfer, mint, tap and abort_transfer_instruction is not null.',
  },
)

export const ActivitiesAnswer = Type.Object(
  { activities: Type.Array(Activity) },
  { title: 'ActivitiesAnswer' },
)

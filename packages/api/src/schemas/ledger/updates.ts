/** Requests for updates and what they answer (docs/upstream.md §L1.2, §L2). */
import { Type } from 'typebox'
import { Event, TreeEvent } from './events.ts'
import { TransactionFilter, TransactionFormat, UpdateFormat } from './formats.ts'
import {
  bool,
  describedInt64,
  Int64,
  int64,
  nullable,
  oneOf,
  Timestamp,
  text,
  wrapped,
} from './relaxed.ts'

export const GetUpdatesRequest = Type.Object(
  {
    // D-27: required, as the published schema says.
    beginExclusive: Int64,
    endInclusive: Type.Optional(Int64),
    filter: Type.Optional(TransactionFilter),
    verbose: bool(),
    updateFormat: Type.Optional(UpdateFormat),
    descendingOrder: bool(),
  },
  { title: 'GetUpdatesRequest' },
)

/** How a list over HTTP ends (§L3.2). */
export const ListQuery = Type.Object({
  limit: Type.Optional(describedInt64('Elements at most; ignored where it is above 200.')),
  stream_idle_timeout_ms: Type.Optional(
    describedInt64('Without a new element for so long, the list is answered.'),
  ),
})

export const TraceContext = nullable(
  Type.Object(
    { traceparent: nullable(Type.String()), tracestate: nullable(Type.String()) },
    { title: 'TraceContext' },
  ),
)

const SynchronizerTime = Type.Object(
  { synchronizerId: Type.String(), recordTime: Timestamp },
  { title: 'SynchronizerTime' },
)

export const OffsetCheckpoint = Type.Object(
  { offset: Int64, synchronizerTimes: Type.Array(SynchronizerTime) },
  { title: 'OffsetCheckpoint' },
)

export const JsTransaction = Type.Object(
  {
    updateId: Type.String(),
    commandId: Type.String(),
    workflowId: Type.String(),
    effectiveAt: Timestamp,
    events: Type.Array(Event),
    offset: Int64,
    synchronizerId: Type.String(),
    traceContext: TraceContext,
    recordTime: Timestamp,
    externalTransactionHash: nullable(Type.String()),
    paidTrafficCost: nullable(Int64),
  },
  { title: 'JsTransaction' },
)

const AuthorizationAdded = wrapped(
  Type.Object(
    {
      partyId: Type.String(),
      participantId: Type.String(),
      participantPermission: Type.String(),
    },
    { title: 'ParticipantAuthorizationAdded' },
  ),
)

const JsTopologyTransaction = Type.Object(
  {
    updateId: Type.String(),
    offset: Int64,
    synchronizerId: Type.String(),
    recordTime: Timestamp,
    events: Type.Array(
      Type.Object({ event: oneOf({ ParticipantAuthorizationAdded: AuthorizationAdded }) }),
    ),
    traceContext: TraceContext,
  },
  { title: 'JsTopologyTransaction' },
)

/** One synchronizer, so there are no reassignments (D-27). */
export const Update = oneOf(
  {
    Transaction: wrapped(JsTransaction),
    OffsetCheckpoint: wrapped(OffsetCheckpoint),
    TopologyTransaction: wrapped(JsTopologyTransaction),
  },
  'Update',
)

export const GetUpdatesElement = Type.Object({ update: Update }, { title: 'JsGetUpdatesResponse' })
export const GetUpdatesAnswer = Type.Array(GetUpdatesElement)

const JsTransactionTree = Type.Object(
  {
    updateId: Type.String(),
    commandId: Type.String(),
    workflowId: Type.String(),
    effectiveAt: Timestamp,
    offset: Int64,
    eventsById: Type.Record(Type.String({ pattern: '^[0-9]+$' }), TreeEvent),
    synchronizerId: Type.String(),
    traceContext: TraceContext,
    recordTime: Timestamp,
  },
  { title: 'JsTransactionTree' },
)

export const GetUpdateTreesAnswer = Type.Array(
  Type.Object(
    {
      update: oneOf({
        TransactionTree: wrapped(JsTransactionTree),
        OffsetCheckpoint: wrapped(OffsetCheckpoint),
      }),
    },
    { title: 'JsGetUpdateTreesResponse' },
  ),
)

export const GetUpdateByIdRequest = Type.Object(
  { updateId: text(), updateFormat: Type.Optional(UpdateFormat) },
  { title: 'GetUpdateByIdRequest' },
)

export const GetUpdateByOffsetRequest = Type.Object(
  { offset: int64(), updateFormat: Type.Optional(UpdateFormat) },
  { title: 'GetUpdateByOffsetRequest' },
)

export const GetTransactionByIdRequest = Type.Object(
  { updateId: text(), transactionFormat: Type.Optional(TransactionFormat) },
  { title: 'GetTransactionByIdRequest' },
)

export const GetTransactionAnswer = Type.Object(
  { transaction: JsTransaction },
  { title: 'JsGetTransactionResponse' },
)

/** Requests for updates and what they answer (docs/upstream.md §L1.2, §L2). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { Event, TreeEvent } from './events.ts'
import { olderForm, oneForm, TransactionFormat, UpdateFormat } from './formats.ts'
import { LedgerParty } from './grammar.ts'
import {
  bool,
  Int32,
  Int64,
  int64,
  list,
  namedOneOf,
  needed,
  oneOf,
  Timestamp,
  text,
  wrapped,
} from './relaxed.ts'

/** Updates of a page. */
export const UPDATES_PAGE_MAX = 1_000
export const UPDATES_PAGE_DEFAULT = 100
/** Parties of one read of a tree. */
export const TREE_PARTIES_MAX = 200

const isDescendingWithoutEnd = {
  required: ['descendingOrder'],
  properties: { descendingOrder: { const: true }, endInclusive: { type: 'null' } },
}

const updateFormat = m.omittable(UpdateFormat, 'Excludes `filter` and `verbose: true`.')

const requestMembers = {
  // D-27: required, as the published schema says.
  beginExclusive: m.bounded(
    Int64,
    'Updates after this offset; at least the pruned offset, at most the ledger end.',
    { minimum: 0 },
  ),
  endInclusive: Type.Optional(
    m.bounded(Int64, 'At most the ledger end. Absent: without end.', { minimum: 1 }),
  ),
  ...olderForm('updateFormat'),
  updateFormat,
  descendingOrder: bool('Newest first; needs endInclusive.'),
}

export const GetUpdatesRequest = Type.Object(requestMembers, {
  title: 'GetUpdatesRequest',
  description: 'Which updates to show. Either updateFormat or filter is given.',
  ...oneForm('updateFormat', isDescendingWithoutEnd),
})

export const GetUpdateTreesRequest = Type.Object(requestMembers, {
  title: 'GetUpdateTreesRequest',
  description:
    'The older form of a request: filter is given, names no template, and updateFormat is not.',
  not: {
    anyOf: [
      { required: ['updateFormat'], properties: { updateFormat: { type: 'object' } } },
      { properties: { filter: { type: 'null' } } },
      isDescendingWithoutEnd,
    ],
  },
})

/** When a list over HTTP is complete (§L3.2). */
export const ListQuery = Type.Object({
  limit: m.omittable(Int64, 'Elements at most; ignored where it is above 200.'),
  stream_idle_timeout_ms: m.omittable(
    Int64,
    'Idle timeout in ms, after which an open-ended list ends. It counts from the moment when everything up to the ledger end of the request was read.',
  ),
})

export const TraceContext = m.nullable(
  m.component('TraceContext', 'The trace of the request that submitted it.', {
    traceparent: m.nullableText('As the W3C defines it.'),
    tracestate: m.nullableText('As the W3C defines it.'),
  }),
)

const synchronizerId = m.string('The one synchronizer.')
const recordTime = m.about(Timestamp, 'Its record time.')
const offset = m.about(Int64, 'The offset of the update; each update has its own, ascending.')
const updateId = m.string('The id of the update, in hex.')
const traceContext = m.about(TraceContext, 'The trace of the request that submitted it, if any.')

export const SynchronizerTime = m.component('SynchronizerTime', 'The clock of a synchronizer.', {
  synchronizerId,
  recordTime: m.about(Timestamp, 'Its record time.'),
})

export const OffsetCheckpoint = m.component(
  'OffsetCheckpoint',
  'Progress of the stream, also without elements.',
  {
    offset: m.about(Int64, 'Everything up to here was delivered.'),
    synchronizerTimes: m.array('Record times at this offset.', SynchronizerTime),
  },
)

const ofTransaction = {
  updateId,
  commandId: m.string('As submitted; empty unless a submitter requests it.'),
  workflowId: m.string('As submitted, or empty.'),
  effectiveAt: m.about(Timestamp, 'Its ledger time.'),
  offset,
  synchronizerId,
  traceContext,
  recordTime,
}

export const JsTransaction = m.component('JsTransaction', 'The requested part of a transaction.', {
  ...ofTransaction,
  events: m.array('The requested events, by node id.', Event),
  externalTransactionHash: m.nullableText('Always null: no external signatures.'),
  paidTrafficCost: m.orNull(Int64, 'Always 0 or null: traffic costs nothing.'),
})

const AuthorizationAdded = wrapped(
  m.component('ParticipantAuthorizationAdded', 'A participant hosts a party.', {
    partyId: m.string('The party.'),
    participantId: m.string('The participant that hosts it.'),
    participantPermission: m.string('Its rights for the party.'),
  }),
)

const JsTopologyTransaction = m.component('JsTopologyTransaction', 'A party was hosted.', {
  updateId,
  offset,
  synchronizerId,
  recordTime,
  events: m.rows('What changed.', {
    event: oneOf('Its kind.', { ParticipantAuthorizationAdded: AuthorizationAdded }),
  }),
  traceContext,
})

/** One synchronizer, so there are no reassignments (D-27). */
export const Update = namedOneOf('Update', 'One update.', {
  Transaction: wrapped(JsTransaction),
  OffsetCheckpoint: wrapped(OffsetCheckpoint),
  TopologyTransaction: wrapped(JsTopologyTransaction),
})

export const GetUpdatesElement = m.component('JsGetUpdatesResponse', 'One element of the stream.', {
  update: Update,
})
export const GetUpdatesAnswer = Type.Array(GetUpdatesElement)

export const GetUpdatesPageRequest = m.component(
  'GetUpdatesPageRequest',
  'Which page of updates to show. Each page of a walk is requested with the same members.',
  {
    beginOffsetExclusive: m.omittable(
      m.extended(Int64, { minimum: 0 }),
      'Updates after this offset. 0 or absent: all that are not pruned.',
    ),
    endOffsetInclusive: Type.Optional(
      m.bounded(
        Int64,
        'At most the ledger end. Absent: the walk continues with updates to come, or, in descending order, begins at the ledger end.',
        { minimum: 1 },
      ),
    ),
    maxPageSize: Type.Optional(
      m.bounded(
        Int32,
        `Updates at most, by default ${UPDATES_PAGE_DEFAULT}. A page may have fewer also where more follow: if they are large, or few of many match.`,
        { minimum: 1, maximum: UPDATES_PAGE_MAX },
      ),
    ),
    updateFormat: needed(UpdateFormat, 'How to show them.'),
    descendingOrder: bool('Newest first.'),
    pageToken: Type.Optional(m.string('`nextPageToken` of the page before; empty for the first.')),
  },
)

export const GetUpdatesPageAnswer = m.component('JsGetUpdatesPageResponse', 'A page of updates.', {
  updates: m.array('In the requested order.', GetUpdatesElement),
  lowestPageOffsetExclusive: m.about(Int64, 'Every matching update after this offset is shown, …'),
  highestPageOffsetInclusive: m.about(Int64, '… up to this offset.'),
  nextPageToken: Type.Optional(
    m.nullableText(
      'The token of the next page; null on the last. Without an end, in ascending order, it is never null: request it again for updates to come.',
    ),
  ),
})

export const JsTransactionTree = m.component('JsTransactionTree', 'A transaction as a tree.', {
  ...ofTransaction,
  eventsById: m.record('Events by their node ids.', TreeEvent),
})

export const GetUpdateTreesElement = m.component(
  'JsGetUpdateTreesResponse',
  'One element of the stream.',
  {
    update: oneOf('One update.', {
      TransactionTree: wrapped(JsTransactionTree),
      OffsetCheckpoint: wrapped(OffsetCheckpoint),
    }),
  },
)
export const GetUpdateTreesAnswer = Type.Array(GetUpdateTreesElement)

/** The parties that a tree is shown to. */
export const TreeQuery = Type.Object({
  parties: Type.Optional(
    m.array('Parties that the caller may read as; at least one.', LedgerParty, {
      minItems: 1,
      maxItems: TREE_PARTIES_MAX,
    }),
  ),
})

export const GetTransactionTreeAnswer = m.component(
  'JsGetTransactionTreeResponse',
  'The transaction.',
  { transaction: JsTransactionTree },
)

const neededId = text('The id of the update, in hex.', { minLength: 1, maxLength: 255 })
const neededFormat = needed(UpdateFormat, 'How to show it.')

export const GetUpdateByIdRequest = m.component(
  'GetUpdateByIdRequest',
  'Which update, and its form.',
  { updateId: neededId, updateFormat: neededFormat },
)

export const GetUpdateByOffsetRequest = m.component(
  'GetUpdateByOffsetRequest',
  'Which update, and its form.',
  { offset: int64('The offset of the update.', { minimum: 1 }), updateFormat: neededFormat },
)

const oneTransaction = {
  transactionFormat: needed(TransactionFormat, 'How to show it; excludes `requestingParties`.'),
  requestingParties: list(
    Type.String(),
    'The former form: created and archived events of these parties.',
  ),
}

export const GetTransactionByIdRequest = m.component(
  'GetTransactionByIdRequest',
  'Which transaction, and its form.',
  { updateId: neededId, ...oneTransaction },
)

export const GetTransactionByOffsetRequest = m.component(
  'GetTransactionByOffsetRequest',
  'Which transaction, and its form.',
  { offset: int64('The offset of the transaction.', { minimum: 1 }), ...oneTransaction },
)

export const GetTransactionAnswer = m.component('JsGetTransactionResponse', 'The transaction.', {
  transaction: JsTransaction,
})

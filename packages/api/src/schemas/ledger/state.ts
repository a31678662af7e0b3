/** The ledger end and the active contracts (docs/upstream.md §L5.2). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { ArchivedEvent, CreatedEvent } from './events.ts'
import { EventFormat, olderForm, oneForm } from './formats.ts'
import { LedgerParty } from './grammar.ts'
import { Int32, Int64, list, needed, oneOf, text } from './relaxed.ts'

export const LedgerEndAnswer = m.component('GetLedgerEndResponse', 'The ledger end.', {
  offset: m.about(Int64, 'The newest offset; 0 of an empty ledger.'),
})

export const GetActiveContractsRequest = Type.Object(
  {
    activeAtOffset: m.bounded(Int64, 'At most the ledger end, at least the pruned offset.', {
      minimum: 0,
    }),
    eventFormat: m.omittable(EventFormat, 'Which contracts, for which parties; excludes `filter`.'),
    ...olderForm('eventFormat'),
    streamContinuationToken: text('Empty: a stream does not continue another one.', {
      maxLength: 0,
    }),
  },
  {
    title: 'GetActiveContractsRequest',
    description: 'Which active contracts to show.',
    ...oneForm('eventFormat'),
  },
)

const synchronizerId = m.string('The one synchronizer.')

const JsActiveContract = m.component('JsActiveContract', 'An active contract.', {
  createdEvent: CreatedEvent,
  synchronizerId,
  reassignmentCounter: m.about(Int32, 'Always 0.'),
})

export const ActiveContractsElement = m.component(
  'JsGetActiveContractsResponse',
  'One element of the stream.',
  {
    workflowId: m.string('The workflow id of the submission that created it.'),
    contractEntry: oneOf('The contract.', { JsActiveContract }),
    streamContinuationToken: m.string('Always empty.'),
  },
)
export const ActiveContractsAnswer = Type.Array(ActiveContractsElement)

export const ConnectedSynchronizersQuery = Type.Object({
  party: Type.Optional(m.string('A party that the caller may read as.')),
  participantId: Type.Optional(m.string('This participant, if given. Others are refused.')),
  identityProviderId: Type.Optional(m.string('Empty: there is one provider.')),
})

export const ConnectedSynchronizersAnswer = m.component(
  'GetConnectedSynchronizersResponse',
  'The synchronizers of the participant.',
  {
    connectedSynchronizers: m.rows('The one synchronizer.', {
      synchronizerAlias: m.string('Its name here.'),
      synchronizerId,
      permission: m.string('The rights of the participant for the party.'),
    }),
  },
)

export const PrunedOffsetsAnswer = m.component(
  'GetLatestPrunedOffsetsResponse',
  'Pruned offsets.',
  {
    participantPrunedUpToInclusive: m.about(Int64, 'Last pruned update or completion; 0: none.'),
    allDivulgedContractsPrunedUpToInclusive: m.about(Int64, 'The same, for divulged contracts.'),
  },
)

export const PruneRequest = m.component('PruneRequest', 'What to prune.', {
  pruneUpTo: m.bounded(Int64, 'Up to this offset, inclusive.', { minimum: 1 }),
})

export const ActiveContractsPageRequest = m.component(
  'GetActiveContractsPageRequest',
  'Which page of active contracts.',
  {
    activeAtOffset: Type.Optional(m.bounded(Int64, 'Absent: the ledger end.', { minimum: 0 })),
    eventFormat: needed(EventFormat, 'Which contracts, for which parties.'),
    maxPageSize: m.omittable(Int32, 'Contracts at most.'),
    pageToken: Type.Optional(m.string('`nextPageToken` of the page before; empty for the first.')),
  },
)

export const ActiveContractsPageAnswer = m.component(
  'JsGetActiveContractsPageResponse',
  'A page of active contracts.',
  {
    activeContracts: m.array('By contract id.', ActiveContractsElement),
    activeAtOffset: m.about(Int64, 'Where they are active.'),
    nextPageToken: Type.Optional(m.nullableText('The token of the next page; null on the last.')),
  },
)

export const EventsByContractIdRequest = m.component(
  'GetEventsByContractIdRequest',
  'Which contract.',
  {
    contractId: text('The contract.', { minLength: 1 }),
    eventFormat: needed(EventFormat, 'How to show it, for which parties.'),
  },
)

export const EventsByContractIdAnswer = m.component(
  'JsGetEventsByContractIdResponse',
  'What happened to a contract.',
  {
    created: m.part('Its creation.', { createdEvent: CreatedEvent, synchronizerId }),
    archived: m.nullable(
      m.part('Its archival; null while it is active.', {
        archivedEvent: ArchivedEvent,
        synchronizerId,
      }),
    ),
  },
)

/** Parties of one lookup of a contract. */
export const QUERYING_PARTIES_MAX = 200

export const ContractByIdRequest = m.component('GetContractRequest', 'Which contract.', {
  contractId: text('The contract.', { minLength: 1 }),
  queryingParties: list(
    LedgerParty,
    'The contract is shown if one of them has a stake in it. Empty: to users who may read as any party.',
    { maxItems: QUERYING_PARTIES_MAX },
  ),
})

export const ContractByIdAnswer = m.component('GetContractResponse', 'A contract.', {
  createdEvent: CreatedEvent,
})

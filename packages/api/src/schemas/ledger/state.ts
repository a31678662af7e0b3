/** Where the ledger stands and what is active on it (docs/upstream.md §L5.2). */
import { Type } from 'typebox'
import { about, component, extended, nullable, part } from '../members.ts'
import { ArchivedEvent, CreatedEvent } from './events.ts'
import { EventFormat, olderForm, oneForm } from './formats.ts'
import { Int32, Int64, needed, oneOf, text } from './relaxed.ts'

export const LedgerEndAnswer = component('GetLedgerEndResponse', 'Where the ledger ends.', {
  offset: about(Int64, 'The newest offset; 0 of an empty ledger.'),
})

export const GetActiveContractsRequest = Type.Object(
  {
    activeAtOffset: extended(Int64, {
      minimum: 0,
      description:
        'Contracts that are active there; at most the ledger end, at least the pruned offset.',
    }),
    eventFormat: Type.Optional(about(EventFormat, 'Which contracts, for whom; excludes `filter`.')),
    ...olderForm('eventFormat'),
  },
  {
    title: 'GetActiveContractsRequest',
    description: 'Which active contracts to show.',
    ...oneForm('eventFormat'),
  },
)

const synchronizerId = Type.String({ description: 'The one synchronizer.' })

const JsActiveContract = component('JsActiveContract', 'An active contract.', {
  createdEvent: CreatedEvent,
  synchronizerId,
  reassignmentCounter: about(Int32, 'Always 0.'),
})

export const ActiveContractsElement = component(
  'JsGetActiveContractsResponse',
  'One element of the stream.',
  {
    workflowId: Type.String({ description: 'Of the submission that created it.' }),
    contractEntry: oneOf({ JsActiveContract }, { description: 'The contract.' }),
    streamContinuationToken: Type.String({ description: 'Always empty.' }),
  },
)
export const ActiveContractsAnswer = Type.Array(ActiveContractsElement)

export const ConnectedSynchronizersQuery = Type.Object({
  party: Type.Optional(Type.String({ description: 'A party that the caller may read as.' })),
  participantId: Type.Optional(Type.String({ description: 'This participant, if given.' })),
  identityProviderId: Type.Optional(Type.String({ description: 'Empty: there is one provider.' })),
})

export const ConnectedSynchronizersAnswer = component(
  'GetConnectedSynchronizersResponse',
  'Where the participant is connected.',
  {
    connectedSynchronizers: Type.Array(
      Type.Object({
        synchronizerAlias: Type.String({ description: 'Its name here.' }),
        synchronizerId,
        permission: Type.String({
          description: 'What the participant may do for the party there.',
        }),
      }),
      { description: 'The one there is.' },
    ),
  },
)

export const PrunedOffsetsAnswer = component('GetLatestPrunedOffsetsResponse', 'What was pruned.', {
  participantPrunedUpToInclusive: about(
    Int64,
    'Up to there updates and completions are gone; 0: none are.',
  ),
  allDivulgedContractsPrunedUpToInclusive: about(
    Int64,
    'The same for divulged contracts, of which there are none.',
  ),
})

export const PruneRequest = component('PruneRequest', 'What to forget.', {
  pruneUpTo: extended(Int64, { minimum: 1, description: 'Up to this offset, inclusive.' }),
})

export const ActiveContractsPageRequest = component(
  'GetActiveContractsPageRequest',
  'Which page of active contracts.',
  {
    activeAtOffset: Type.Optional(
      extended(Int64, {
        minimum: 0,
        description: 'Where they are active; absent: the ledger end.',
      }),
    ),
    eventFormat: needed(EventFormat, 'Which contracts, for whom.'),
    maxPageSize: Type.Optional(about(Int32, 'Contracts at most.')),
    pageToken: Type.Optional(
      Type.String({ description: '`nextPageToken` of the page before; empty for the first.' }),
    ),
  },
)

export const ActiveContractsPageAnswer = component(
  'JsGetActiveContractsPageResponse',
  'A page of active contracts.',
  {
    activeContracts: Type.Array(ActiveContractsElement, { description: 'By contract id.' }),
    activeAtOffset: about(Int64, 'Where they are active.'),
    nextPageToken: Type.Optional(
      about(nullable(Type.String()), 'Asks for the next page; null on the last.'),
    ),
  },
)

export const EventsByContractIdRequest = component(
  'GetEventsByContractIdRequest',
  'Which contract.',
  {
    contractId: text('The contract.', { minLength: 1 }),
    eventFormat: needed(EventFormat, 'How to show it, for whom.'),
  },
)

export const EventsByContractIdAnswer = component(
  'JsGetEventsByContractIdResponse',
  'What happened to a contract.',
  {
    created: part('Its creation.', { createdEvent: CreatedEvent, synchronizerId }),
    archived: nullable(
      part('Its archival; null while it is active.', {
        archivedEvent: ArchivedEvent,
        synchronizerId,
      }),
    ),
  },
)

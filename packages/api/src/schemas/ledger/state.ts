/** Where the ledger stands and what is active on it (docs/upstream.md §L5.2). */
import { Type } from 'typebox'
import { about, extended, nullable } from '../members.ts'
import { CreatedEvent } from './events.ts'
import { EventFormat, olderForm, oneForm } from './formats.ts'
import { Int32, Int64, needed, oneOf, text } from './relaxed.ts'

export const LedgerEndAnswer = Type.Object(
  { offset: about(Int64, 'The newest offset; 0 of an empty ledger.') },
  { title: 'GetLedgerEndResponse', description: 'Where the ledger ends.' },
)

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

const JsActiveContract = Type.Object(
  {
    createdEvent: CreatedEvent,
    synchronizerId,
    reassignmentCounter: about(Int32, 'Always 0.'),
  },
  { title: 'JsActiveContract', description: 'An active contract.' },
)

export const ActiveContractsElement = Type.Object(
  {
    workflowId: Type.String({ description: 'Of the submission that created it.' }),
    contractEntry: oneOf({ JsActiveContract }, { description: 'The contract.' }),
    streamContinuationToken: Type.String({ description: 'Always empty.' }),
  },
  { title: 'JsGetActiveContractsResponse', description: 'One element of the stream.' },
)
export const ActiveContractsAnswer = Type.Array(ActiveContractsElement)

export const ConnectedSynchronizersQuery = Type.Object({
  party: Type.Optional(Type.String({ description: 'A party that the caller may read as.' })),
  participantId: Type.Optional(Type.String({ description: 'This participant, if given.' })),
  identityProviderId: Type.Optional(Type.String({ description: 'Empty: there is one provider.' })),
})

export const ConnectedSynchronizersAnswer = Type.Object(
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
  {
    title: 'GetConnectedSynchronizersResponse',
    description: 'Where the participant is connected.',
  },
)

export const PrunedOffsetsAnswer = Type.Object(
  {
    participantPrunedUpToInclusive: about(
      Int64,
      'Up to there updates and completions are gone; 0: none are.',
    ),
    allDivulgedContractsPrunedUpToInclusive: about(
      Int64,
      'The same for divulged contracts, of which there are none.',
    ),
  },
  { title: 'GetLatestPrunedOffsetsResponse', description: 'What was pruned.' },
)

export const PruneRequest = Type.Object(
  { pruneUpTo: extended(Int64, { minimum: 1, description: 'Up to this offset, inclusive.' }) },
  { title: 'PruneRequest', description: 'What to forget.' },
)

export const ActiveContractsPageRequest = Type.Object(
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
  { title: 'GetActiveContractsPageRequest', description: 'Which page of active contracts.' },
)

export const ActiveContractsPageAnswer = Type.Object(
  {
    activeContracts: Type.Array(ActiveContractsElement, { description: 'By contract id.' }),
    activeAtOffset: about(Int64, 'Where they are active.'),
    nextPageToken: Type.Optional(
      about(nullable(Type.String()), 'Asks for the next page; null on the last.'),
    ),
  },
  { title: 'JsGetActiveContractsPageResponse', description: 'A page of active contracts.' },
)

export const EventsByContractIdRequest = Type.Object(
  {
    contractId: text('The contract.', { minLength: 1 }),
    eventFormat: needed(EventFormat, 'How to show it, for whom.'),
  },
  { title: 'GetEventsByContractIdRequest', description: 'Which contract.' },
)

export const EventsByContractIdAnswer = Type.Object(
  {
    created: Type.Object(
      { createdEvent: CreatedEvent, synchronizerId },
      { description: 'Its creation.' },
    ),
    archived: Type.Null({ description: 'Always null: what was archived is not found.' }),
  },
  { title: 'JsGetEventsByContractIdResponse', description: 'What happened to a contract.' },
)

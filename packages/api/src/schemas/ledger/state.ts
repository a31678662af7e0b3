/** Where the ledger stands and what is active on it (docs/upstream.md §L5.2). */
import { Type } from 'typebox'
import { CreatedEvent } from './events.ts'
import { EventFormat, TransactionFilter } from './formats.ts'
import { bool, Int32, Int64, nullable, oneOf, text } from './relaxed.ts'

export const LedgerEndAnswer = Type.Object({ offset: Int64 }, { title: 'GetLedgerEndResponse' })

export const GetActiveContractsRequest = Type.Object(
  {
    activeAtOffset: Int64,
    eventFormat: Type.Optional(EventFormat),
    filter: Type.Optional(TransactionFilter),
    verbose: bool(),
  },
  { title: 'GetActiveContractsRequest' },
)

const JsActiveContract = Type.Object(
  { createdEvent: CreatedEvent, synchronizerId: Type.String(), reassignmentCounter: Int32 },
  { title: 'JsActiveContract' },
)

const ActiveContractsElement = Type.Object(
  {
    workflowId: Type.String(),
    contractEntry: oneOf({ JsActiveContract }),
    streamContinuationToken: Type.String(),
  },
  { title: 'JsGetActiveContractsResponse' },
)
export const ActiveContractsAnswer = Type.Array(ActiveContractsElement)

export const ActiveContractsPageRequest = Type.Object(
  {
    activeAtOffset: Type.Optional(Int64),
    eventFormat: Type.Optional(EventFormat),
    maxPageSize: Type.Optional(Int32),
    pageToken: Type.Optional(Type.String()),
  },
  { title: 'GetActiveContractsPageRequest' },
)

export const ActiveContractsPageAnswer = Type.Object(
  {
    activeContracts: Type.Array(ActiveContractsElement),
    activeAtOffset: Int64,
    nextPageToken: Type.Optional(nullable(Type.String())),
  },
  { title: 'JsGetActiveContractsPageResponse' },
)

export const EventsByContractIdRequest = Type.Object(
  { contractId: text(), eventFormat: Type.Optional(EventFormat) },
  { title: 'GetEventsByContractIdRequest' },
)

export const EventsByContractIdAnswer = Type.Object(
  {
    created: Type.Object({ createdEvent: CreatedEvent, synchronizerId: Type.String() }),
    archived: Type.Null(),
  },
  { title: 'JsGetEventsByContractIdResponse' },
)

export const ConnectedSynchronizersQuery = Type.Object({
  party: Type.Optional(Type.String()),
  participantId: Type.Optional(Type.String()),
  identityProviderId: Type.Optional(Type.String()),
})

export const ConnectedSynchronizersAnswer = Type.Object(
  {
    connectedSynchronizers: Type.Array(
      Type.Object({
        synchronizerAlias: Type.String(),
        synchronizerId: Type.String(),
        permission: Type.String(),
      }),
    ),
  },
  { title: 'GetConnectedSynchronizersResponse' },
)

export const PrunedOffsetsAnswer = Type.Object(
  { participantPrunedUpToInclusive: Int64, allDivulgedContractsPrunedUpToInclusive: Int64 },
  { title: 'GetLatestPrunedOffsetsResponse' },
)

export const PruneRequest = Type.Object({ pruneUpTo: Int64 }, { title: 'PruneRequest' })

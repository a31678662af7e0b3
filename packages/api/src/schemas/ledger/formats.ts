/** What to read and how to show it: filters and formats (docs/upstream.md §L1.3). */
import { Type } from 'typebox'
import { bool, defaulted, Empty, Identifier, list, oneOf, wrapped } from './relaxed.ts'

const IdentifierFilter = oneOf(
  {
    Empty,
    WildcardFilter: wrapped(Type.Object({ includeCreatedEventBlob: bool() })),
    TemplateFilter: wrapped(
      Type.Object({ templateId: Identifier, includeCreatedEventBlob: bool() }),
    ),
    InterfaceFilter: wrapped(
      Type.Object({
        interfaceId: Identifier,
        includeInterfaceView: bool(),
        includeCreatedEventBlob: bool(),
      }),
    ),
  },
  'IdentifierFilter',
)

const Filters = Type.Object(
  {
    cumulative: list(Type.Object({ identifierFilter: defaulted(IdentifierFilter, { Empty: {} }) })),
  },
  { title: 'Filters', description: 'No entry, or `Empty` alone, matches every template.' },
)

const FiltersByParty = defaulted(Type.Record(Type.String(), Filters), {})

export const EventFormat = Type.Object(
  {
    filtersByParty: FiltersByParty,
    filtersForAnyParty: Type.Optional(Filters),
    verbose: bool(),
  },
  { title: 'EventFormat' },
)

export const TRANSACTION_SHAPES = [
  'TRANSACTION_SHAPE_UNSPECIFIED',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
] as const

export const TransactionFormat = Type.Object(
  {
    eventFormat: Type.Optional(EventFormat),
    transactionShape: Type.Enum(TRANSACTION_SHAPES),
  },
  { title: 'TransactionFormat' },
)

const TopologyFormat = Type.Object(
  {
    includeParticipantAuthorizationEvents: Type.Optional(
      Type.Object({ parties: list(Type.String()) }),
    ),
  },
  { title: 'TopologyFormat' },
)

export const UpdateFormat = Type.Object(
  {
    includeTransactions: Type.Optional(TransactionFormat),
    includeReassignments: Type.Optional(EventFormat),
    includeTopologyEvents: Type.Optional(TopologyFormat),
  },
  { title: 'UpdateFormat', description: 'What is absent is not delivered.' },
)

/** Kept for clients that do not know `UpdateFormat`. */
export const TransactionFilter = Type.Object(
  { filtersByParty: FiltersByParty, filtersForAnyParty: Type.Optional(Filters) },
  { title: 'TransactionFilter' },
)

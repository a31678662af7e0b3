/** What to read and how to show it: filters and formats (docs/upstream.md §L1.3). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { LEDGER_PARTY_PATTERN, LedgerParty } from './grammar.ts'
import { bool, defaulted, Empty, Identifier, list, namedOneOf, needed, wrapped } from './relaxed.ts'

const includeCreatedEventBlob = bool('Whether created events have their blob.')
/** A template of a filter: by package name only. */
const FILTERED = {
  pattern:
    '^#[A-Za-z0-9\\-_]{1,255}:[A-Za-z$_][A-Za-z0-9$_]*(\\.[A-Za-z$_][A-Za-z0-9$_]*)*:[A-Za-z$_][A-Za-z0-9$_]*$',
}

const IdentifierFilter = namedOneOf('IdentifierFilter', 'Which templates match.', {
  Empty,
  WildcardFilter: wrapped(m.part('Every template.', { includeCreatedEventBlob })),
  TemplateFilter: wrapped(
    m.part('One template.', {
      templateId: m.about(Identifier, 'The template, by package name.', FILTERED),
      includeCreatedEventBlob,
    }),
  ),
  InterfaceFilter: wrapped(
    m.part('Every template that implements the interface.', {
      interfaceId: m.about(Identifier, 'The interface, by package name.', FILTERED),
      includeInterfaceView: bool('Whether created events have its view.'),
      includeCreatedEventBlob,
    }),
  ),
})

const Filters = m.component('Filters', 'No entry, or `Empty` alone, matches every template.', {
  cumulative: list(
    Type.Object({ identifierFilter: defaulted(IdentifierFilter, { Empty: {} }) }),
    'An event needs to match one of them.',
  ),
})

const FiltersByParty = defaulted(
  Type.Record(Type.String(), Filters, {
    propertyNames: { pattern: LEDGER_PARTY_PATTERN },
    description: 'Filters by party: each shows what that party sees.',
  }),
  {},
)

const filtersForAnyParty = m.omittable(Filters, 'What any party sees; needs CanReadAsAnyParty.')

export const EventFormat = Type.Object(
  {
    filtersByParty: FiltersByParty,
    filtersForAnyParty,
    verbose: bool('Without effect: record labels are always present.'),
  },
  {
    title: 'EventFormat',
    description: 'Which events, for which parties. At least one filter is given.',
    not: {
      properties: { filtersByParty: { maxProperties: 0 }, filtersForAnyParty: { type: 'null' } },
    },
  },
)

export const TRANSACTION_SHAPES = [
  'TRANSACTION_SHAPE_UNSPECIFIED',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
] as const

export const TransactionFormat = m.component('TransactionFormat', 'How transactions are shown.', {
  eventFormat: needed(EventFormat, 'Which events, for which parties.'),
  transactionShape: Type.Enum(TRANSACTION_SHAPES, {
    description:
      'ACS_DELTA shows creates and archivals, LEDGER_EFFECTS exercises as well; UNSPECIFIED is refused.',
  }),
})

const TopologyFormat = m.component('TopologyFormat', 'Which topology events are shown.', {
  includeParticipantAuthorizationEvents: Type.Optional(
    m.part('Where parties are hosted.', {
      parties: list(LedgerParty, 'Empty: all, which needs CanReadAsAnyParty.'),
    }),
  ),
})

export const UpdateFormat = m.component(
  'UpdateFormat',
  'Which updates; an absent kind is left out.',
  {
    includeTransactions: Type.Optional(TransactionFormat),
    includeReassignments: m.omittable(EventFormat, 'Without effect: there is one synchronizer.'),
    includeTopologyEvents: Type.Optional(TopologyFormat),
  },
)

/** Kept for clients that do not know `UpdateFormat`. */
export const TransactionFilter = m.component(
  'TransactionFilter',
  'The older form of a format; at least one filter is given.',
  { filtersByParty: FiltersByParty, filtersForAnyParty },
)

/** Members of the older form, in addition to the one that replaces them. */
export const olderForm = (newForm: string) => ({
  filter: Type.Optional(
    m.about(TransactionFilter, `Mutually exclusive with ${newForm}.`, { deprecated: true }),
  ),
  verbose: m.about(bool(''), `No effect; must not be true with ${newForm}.`, { deprecated: true }),
})

const isGiven = { type: 'object' } as const
const isNot = { type: 'null' } as const

/** JSON Schema of what is refused: both forms, none, and whatever else. */
export const oneForm = (newForm: string, ...others: object[]) => ({
  not: {
    anyOf: [
      { required: ['filter', newForm], properties: { filter: isGiven, [newForm]: isGiven } },
      {
        required: ['verbose', newForm],
        properties: { verbose: { const: true }, [newForm]: isGiven },
      },
      { properties: { filter: isNot, [newForm]: isNot } },
      ...others,
    ],
  },
})

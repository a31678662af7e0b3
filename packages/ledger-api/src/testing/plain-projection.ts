/**
 * For tests: a second, simple implementation of what the ledger interface shows of an entry. It follows docs/upstream.md
 * §L2, works on the results of interpretation, and does not know how updates are stored.
 */
import { HOLDING_INTERFACE, templates } from '@quorumscan/ledger'
import type { EntryResult, LedgerEvent, Micros, Offset, PartyId } from '@quorumscan/model'

export type PlainFilter =
  | { readonly kind: 'empty' }
  | { readonly kind: 'wildcard'; readonly blob: boolean }
  | { readonly kind: 'template'; readonly entity: string; readonly blob: boolean }
  | { readonly kind: 'holding'; readonly view: boolean; readonly blob: boolean }

export type PlainFormat = {
  readonly byParty: Readonly<Record<PartyId, readonly PlainFilter[]>>
  readonly anyParty: readonly PlainFilter[] | null
  readonly shape: 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS'
  /** null: no topology events; []: of all parties. */
  readonly topology: readonly PartyId[] | null
}

/** The format as a client writes it. */
export function toWireFormat(format: PlainFormat): unknown {
  const filters = (list: readonly PlainFilter[]) => ({
    cumulative: list.map((filter) => ({ identifierFilter: identifierFilter(filter) })),
  })
  const eventFormat = {
    filtersByParty: Object.fromEntries(
      Object.entries(format.byParty).map(([party, list]) => [party, filters(list)]),
    ),
    ...(format.anyParty === null ? {} : { filtersForAnyParty: filters(format.anyParty) }),
    verbose: false,
  }
  return {
    includeTransactions: { eventFormat, transactionShape: format.shape },
    ...(format.topology && {
      includeTopologyEvents: {
        includeParticipantAuthorizationEvents: { parties: format.topology },
      },
    }),
  }
}

function identifierFilter(filter: PlainFilter): unknown {
  switch (filter.kind) {
    case 'empty':
      return { Empty: {} }
    case 'wildcard':
      return { WildcardFilter: { value: { includeCreatedEventBlob: filter.blob } } }
    case 'template': {
      const template = templates.find(({ entity }) => entity === filter.entity)
      const templateId = `#${template?.packageName}:${template?.module}:${filter.entity}`
      return { TemplateFilter: { value: { templateId, includeCreatedEventBlob: filter.blob } } }
    }
    case 'holding':
      return {
        InterfaceFilter: {
          value: {
            interfaceId: HOLDING_INTERFACE,
            includeInterfaceView: filter.view,
            includeCreatedEventBlob: filter.blob,
          },
        },
      }
  }
}

/** The part of an event that depends on the filter. */
export type PlainEvent = {
  readonly kind: 'CreatedEvent' | 'ArchivedEvent' | 'ExercisedEvent'
  readonly nodeId: number
  readonly contractId: string
  readonly witnesses: readonly PartyId[]
  readonly acsDelta: boolean | undefined
  readonly hasBlob: boolean
  readonly hasView: boolean
  readonly isByInterface: boolean
}

export type PlainUpdate = {
  readonly offset: Offset
  readonly recordTime: Micros
  readonly updateId: string
  readonly commandId: string
  readonly events: readonly PlainEvent[]
  readonly hosted: readonly PartyId[]
}

/** null if nothing is shown. */
export function plainProjection(
  entry: { readonly offset: Offset; readonly recordTime: Micros; readonly result: EntryResult },
  format: PlainFormat,
): PlainUpdate | null {
  const { offset, recordTime, result } = entry
  if (result.kind !== 'accepted') return null
  const { update, completion } = result
  const { topology } = format
  const hosted = update.allocated
    .map(({ party }) => party)
    .filter((party) => topology !== null && (topology.length === 0 || topology.includes(party)))
  const events = update.events.flatMap((event) => plainEvent(event, update.events, format))
  if (hosted.length === 0 && events.length === 0) return null
  const isOwn =
    format.anyParty !== null ||
    completion.actAs.some((party) => Object.hasOwn(format.byParty, party))
  const commandId = isOwn && events.length > 0 ? completion.commandId : ''
  return { offset, recordTime, updateId: update.updateId, commandId, events, hosted }
}

function plainEvent(
  event: LedgerEvent,
  events: readonly LedgerEvent[],
  format: PlainFormat,
): PlainEvent[] {
  const stakeholders = [...event.signatories, ...event.observers]
  const isDelta = format.shape === 'TRANSACTION_SHAPE_ACS_DELTA'
  const isTransient =
    events.some(({ kind, contractId }) => kind === 'created' && contractId === event.contractId) &&
    events.some(
      (other) =>
        other.kind === 'exercised' && other.consuming && other.contractId === event.contractId,
    )
  const changesContracts = event.kind === 'created' || event.consuming
  if (isDelta && (isTransient || !changesContracts)) return []
  const above = events.flatMap((other) =>
    other.kind === 'exercised' &&
    other.nodeId < event.nodeId &&
    event.nodeId <= other.lastDescendantNodeId
      ? informees(other)
      : [],
  )
  const witnesses = isDelta ? stakeholders : [...new Set([...informees(event), ...above])]
  const matching = matchesOf(event, witnesses, format)
  if (matching.length === 0) return []
  const isCreated = event.kind === 'created'
  return [
    {
      kind: isCreated ? 'CreatedEvent' : isDelta ? 'ArchivedEvent' : 'ExercisedEvent',
      nodeId: event.nodeId,
      contractId: event.contractId,
      witnesses: witnesses
        .filter((party) => format.anyParty !== null || Object.hasOwn(format.byParty, party))
        .sort(),
      acsDelta:
        isDelta && !isCreated
          ? undefined
          : changesContracts && !isTransient && matchesOf(event, stakeholders, format).length > 0,
      hasBlob: isCreated && matching.some((filter) => filter.kind !== 'empty' && filter.blob),
      hasView: isCreated && matching.some((filter) => filter.kind === 'holding' && filter.view),
      isByInterface: !isCreated && matching.some(({ kind }) => kind === 'holding'),
    },
  ]
}

function informees(event: LedgerEvent): readonly PartyId[] {
  if (event.kind === 'created') return [...event.signatories, ...event.observers]
  return event.consuming
    ? [...event.signatories, ...event.observers, ...event.actingParties]
    : [...event.signatories, ...event.actingParties]
}

/** Every filter of a witness that takes the event. */
function matchesOf(
  event: LedgerEvent,
  witnesses: readonly PartyId[],
  { byParty, anyParty }: PlainFormat,
): PlainFilter[] {
  const entity = event.templateId.split(':')[2]
  const takes = (filter: PlainFilter) =>
    filter.kind === 'wildcard' ||
    filter.kind === 'empty' ||
    (filter.kind === 'template' && filter.entity === entity) ||
    (filter.kind === 'holding' && (entity === 'Coin' || entity === 'LockedCoin'))
  const meant = (list: readonly PlainFilter[]): readonly PlainFilter[] => {
    const said = list.filter(({ kind }) => kind !== 'empty')
    return said.length === 0 ? [{ kind: 'empty' }] : said
  }
  const lists = witnesses.flatMap((party) =>
    Object.hasOwn(byParty, party) ? [byParty[party]] : [],
  )
  return [...lists, ...(anyParty === null || witnesses.length === 0 ? [] : [anyParty])]
    .flatMap((list) => meant(list ?? []))
    .filter(takes)
}

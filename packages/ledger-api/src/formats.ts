/**
 * What a request for updates asks to see (docs/upstream.md §L1.2 to §L1.5, §L3.1): rights, rules and meaning of its
 * formats. They are checked in two steps, as the order of errors demands. Then a format of events becomes one row of flags
 * for each party, indexed by template.
 */

import type { BodyOf, ledgerRoutes } from '@quorumscan/api'
import { LedgerError } from '@quorumscan/errors'
import {
  HOLDING_INTERFACE,
  implementsHolding,
  packages,
  templateRef,
  templates,
} from '@quorumscan/ledger'
import type { PartyId } from '@quorumscan/model'
import type { CallerRights } from './callers.ts'
import {
  denied,
  invalidArgument,
  invalidField,
  isPackageName,
  isPartyString,
  missingField,
  quoted,
} from './commands/grammar.ts'

/** ACS_DELTA shows creates and archivals, LEDGER_EFFECTS creates and exercises (§L2.4); trees the same by node id. */
export type Shape = 'acs-delta' | 'ledger-effects' | 'tree'

export type TransactionView = { readonly shape: Shape; readonly filter: EventFilter }

/** A format in the form that projection works with. What is null is not shown. */
export type UpdateView = {
  readonly transactions: TransactionView | null
  /** Parties whose hosting is shown; `'all'` for all parties'. */
  readonly topology: ReadonlySet<PartyId> | 'all' | null
}

/** The legacy form of a format (§L1.4). */
export type LegacyFilter = {
  readonly filter?: Pick<EventFormat, 'filtersByParty' | 'filtersForAnyParty'>
  readonly verbose: boolean
}

type EitherForm = LegacyFilter & { readonly updateFormat?: UpdateFormat }

/**
 * One format of the two that a request may use.
 *
 * @throws {LedgerError} INVALID_ARGUMENT if there are both or none. `verbose: false` is as good as absent (D-27).
 */
export function combineFormats(request: EitherForm) {
  const format = oneForm('update_format', request.updateFormat, request)
  if (!('filtersByParty' in format)) return format
  const parties = Object.keys(format.filtersByParty)
  return {
    ...ofEvents(format, 'TRANSACTION_SHAPE_ACS_DELTA'),
    // D-27: topology events of the parties that it names; an empty list would mean all parties.
    ...(parties.length === 0
      ? {}
      : { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties } } }),
  }
}

/**
 * What a request for trees asks for (D-28): parties, in the legacy form.
 *
 * @throws {LedgerError} INVALID_ARGUMENT for any other form, and for filters of templates or interfaces.
 */
export function combineTreeFormat(request: EitherForm): UpdateFormat {
  const { updateFormat, filter, verbose } = request
  if (updateFormat !== undefined)
    throw invalidArgument('update_format must be unset in a request for trees')
  if (filter === undefined) throw invalidArgument('filter is required in a request for trees')
  const eventFormat = { ...filter, verbose }
  if (identifiersOf(eventFormat).length > 0)
    throw invalidArgument('a request for trees must not filter by templates or interfaces')
  return ofEvents(eventFormat, 'TRANSACTION_SHAPE_LEDGER_EFFECTS')
}

/** The form of today, or the legacy one as a format of events. */
export function oneForm<Format>(
  member: string,
  format: Format | undefined,
  { filter, verbose }: LegacyFilter,
): Format | EventFormat {
  const advice = `Please use either backwards compatible arguments or ${member}`
  if (format === undefined) {
    if (filter !== undefined) return { ...filter, verbose }
    throw invalidArgument(`Either filter/verbose or ${member} is required. ${advice}.`)
  }
  if (filter !== undefined || verbose)
    throw invalidArgument(`Both ${member} and filter/verbose are set. ${advice}, but not both.`)
  return format
}

function ofEvents(eventFormat: EventFormat, transactionShape: TransactionShape): UpdateFormat {
  return {
    includeTransactions: { eventFormat, transactionShape },
    includeReassignments: eventFormat,
  }
}

/** Every transaction that a party sees, in this shape. */
export function formatOfParties(
  parties: readonly PartyId[],
  transactionShape: TransactionShape,
): UpdateFormat {
  const filtersByParty = Object.fromEntries(parties.map((party) => [party, { cumulative: [] }]))
  return {
    includeTransactions: { transactionShape, eventFormat: { filtersByParty, verbose: true } },
  }
}

/** @throws {LedgerError} PERMISSION_DENIED unless the caller may read as every party that the format names (§L6.2). */
export function assertMayRead(caller: CallerRights, format: UpdateFormat): void {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  for (const events of [includeTransactions?.eventFormat, includeReassignments])
    if (events !== undefined) assertMayReadEvents(caller, events)
  const { parties } = includeTopologyEvents?.includeParticipantAuthorizationEvents ?? {}
  if (parties !== undefined) assertMayReadAs(caller, parties.length === 0 ? 'all' : parties)
}

export function assertMayReadEvents(caller: CallerRights, format: EventFormat): void {
  if (format.filtersForAnyParty !== undefined) assertMayReadAs(caller, 'all')
  assertMayReadAs(caller, Object.keys(format.filtersByParty))
}

/** @throws {LedgerError} PERMISSION_DENIED. */
export function assertMayReadAs(
  { userId, rights }: CallerRights,
  parties: readonly PartyId[] | 'all',
): void {
  if (rights.some(({ kind }) => kind === 'CanReadAsAnyParty')) return
  if (parties === 'all') throw denied(`${userId} may not read as any party`)
  // One pass over the rights, however many parties a filter names.
  const readable = new Set(rights.flatMap((right) => ('party' in right ? [right.party] : [])))
  for (const party of parties)
    if (!readable.has(party)) throw denied(`${userId} may not read as ${quoted(party)}`)
}

/**
 * The view that a format describes: all of it is checked before any of it is resolved.
 *
 * @throws {LedgerError} MISSING_FIELD, INVALID_ARGUMENT, INVALID_FIELD (step 9 of §L3.1), then 404 for an unknown
 *   package, template or interface (step 10).
 */
export function readUpdateFormat(format: UpdateFormat): UpdateView {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  const { eventFormat, transactionShape } = includeTransactions ?? {}
  const { parties } = includeTopologyEvents?.includeParticipantAuthorizationEvents ?? {}
  if (includeTransactions !== undefined) {
    if (eventFormat === undefined) throw missingField('event_format')
    if (transactionShape === 'TRANSACTION_SHAPE_UNSPECIFIED')
      throw missingField('transaction_shape')
    checkEventFormat(eventFormat)
  }
  if (includeReassignments !== undefined) checkEventFormat(includeReassignments)
  for (const party of parties ?? [])
    if (!isPartyString(party))
      throw invalidField('parties', `${quoted(party)} is not a party identifier`)
  // With one synchronizer nothing is reassigned. A filter that cannot exist is refused all the same.
  if (includeReassignments !== undefined) compileEventFormat(includeReassignments)
  const topology = parties && (parties.length === 0 ? 'all' : new Set(parties))
  const isEffects = transactionShape === 'TRANSACTION_SHAPE_LEDGER_EFFECTS'
  const shape = isEffects ? 'ledger-effects' : 'acs-delta'
  return {
    transactions: eventFormat ? { shape, filter: compileEventFormat(eventFormat) } : null,
    topology: topology ?? null,
  }
}

type UpdatesRequest = BodyOf<(typeof ledgerRoutes)['getUpdates']>
export type UpdateFormat = NonNullable<UpdatesRequest['updateFormat']>
export type EventFormat = NonNullable<UpdateFormat['includeReassignments']>
export type TransactionShape = NonNullable<UpdateFormat['includeTransactions']>['transactionShape']
type Filters = NonNullable<EventFormat['filtersForAnyParty']>
type IdentifierFilter = Filters['cumulative'][number]['identifierFilter']

/** Flags of a template for a party. The filter matches it. */
export const MATCHES = 1
/** The filter asks for its blob. */
export const WITH_BLOB = 2
/** The filter matches it through the interface. */
export const BY_INTERFACE = 4
/** The filter asks for the interface's view. */
export const WITH_VIEW = 8

/** Flags by index in `templates`. */
export type TemplateFlags = Uint8Array

export type EventFilter = {
  /** The flags of `filtersForAnyParty`; null: it is absent. */
  readonly anyParty: TemplateFlags | null
  readonly byParty: ReadonlyMap<PartyId, TemplateFlags>
}

const NAME = /^[A-Za-z$_][A-Za-z0-9$_]{0,999}$/

/** @throws {LedgerError} INVALID_ARGUMENT, INVALID_FIELD. */
export function checkEventFormat(format: EventFormat): void {
  const parties = Object.keys(format.filtersByParty)
  if (parties.length === 0 && format.filtersForAnyParty === undefined)
    throw invalidArgument('filtersByParty and filtersForAnyParty cannot be empty simultaneously')
  for (const party of parties)
    if (!isPartyString(party))
      throw invalidArgument(`filtersByParty: ${quoted(party)} is not a party identifier`)
  for (const id of identifiersOf(format)) checkIdentifier(id)
}

/**
 * @param format - Checked.
 * @throws {LedgerError} 404 where a package, template or interface is not known.
 */
export function compileEventFormat(format: EventFormat): EventFilter {
  const unknown = identifiersOf(format)
    .map((id) => id.slice(1, id.indexOf(':')))
    .filter((name) => !packages.some((known) => known.name === name))
  if (unknown.length > 0)
    throw new LedgerError(
      'PACKAGE_NAMES_NOT_FOUND',
      `no package has the name ${[...new Set(unknown)].slice(0, NAMES_SHOWN).join(', ')}`,
    )
  const { filtersForAnyParty: anyParty, filtersByParty } = format
  const byParty = Object.entries(filtersByParty)
  return {
    anyParty: anyParty === undefined ? null : flagsOf(anyParty),
    byParty: new Map(byParty.map(([party, filters]) => [party, flagsOf(filters)])),
  }
}

/** @throws {LedgerError} As `checkEventFormat`, then as `compileEventFormat`. */
export function readEventFormat(format: EventFormat): EventFilter {
  checkEventFormat(format)
  return compileEventFormat(format)
}

/** Unknown names that a message lists. */
const NAMES_SHOWN = 10

/** The templates and interfaces that a format names. */
export function identifiersOf(format: EventFormat): readonly string[] {
  const all = [...Object.values(format.filtersByParty), format.filtersForAnyParty]
  const filters = all.flatMap((one) => one?.cumulative ?? [])
  return filters.flatMap(({ identifierFilter: filter }) => {
    if ('TemplateFilter' in filter) return filter.TemplateFilter.value.templateId
    return 'InterfaceFilter' in filter ? filter.InterfaceFilter.value.interfaceId : []
  })
}

/** The schema demands three parts. */
function checkIdentifier(id: string): void {
  const [packageRef = '', module = '', entity = ''] = id.split(':')
  const demand = (isValid: boolean, field: string, problem: string) => {
    if (!isValid) throw invalidField(field, problem)
  }
  const isPackage = packageRef.startsWith('#') && isPackageName(packageRef.slice(1))
  demand(isPackage, 'packageId', `${quoted(packageRef)} is not # and a package name`)
  const isModule = module.split('.').every((part) => NAME.test(part))
  demand(isModule, 'moduleName', `${quoted(module)} is not a dotted name`)
  demand(NAME.test(entity), 'entityName', `${quoted(entity)} is not a name`)
}

function flagsOf(filters: Filters): TemplateFlags {
  const wanted = filters.cumulative
    .map(({ identifierFilter }) => identifierFilter)
    .filter((filter) => !('Empty' in filter))
  // Without an entry, or with empty ones only, it is a wildcard without blobs (§L1.3).
  if (wanted.length === 0) return EVERYTHING
  const flags = new Uint8Array(templates.length)
  for (const filter of wanted) addTo(flags, filter)
  return flags
}

const EVERYTHING: TemplateFlags = new Uint8Array(templates.length).fill(MATCHES)

function addTo(flags: TemplateFlags, filter: IdentifierFilter): void {
  const add = (index: number, more: number) => {
    flags[index] = (flags[index] ?? 0) | MATCHES | more
  }
  const blob = (isAsked: boolean) => (isAsked ? WITH_BLOB : 0)
  if ('WildcardFilter' in filter) {
    const { includeCreatedEventBlob } = filter.WildcardFilter.value
    for (const index of flags.keys()) add(index, blob(includeCreatedEventBlob))
  } else if ('TemplateFilter' in filter) {
    const { templateId, includeCreatedEventBlob } = filter.TemplateFilter.value
    // A package name means every version of the template.
    const indexes = [...templates.keys()].filter(
      (index) => templateRef(templates[index] as (typeof templates)[number]) === templateId,
    )
    if (indexes.length === 0)
      throw new LedgerError('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', notIn(templateId))
    for (const index of indexes) add(index, blob(includeCreatedEventBlob))
  } else if ('InterfaceFilter' in filter) {
    const { interfaceId, includeInterfaceView, includeCreatedEventBlob } =
      filter.InterfaceFilter.value
    if (interfaceId !== HOLDING_INTERFACE)
      throw new LedgerError('NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', notIn(interfaceId))
    const more = BY_INTERFACE | (includeInterfaceView ? WITH_VIEW : 0)
    for (const [index, template] of templates.entries())
      if (implementsHolding(template)) add(index, more | blob(includeCreatedEventBlob))
  }
}

function notIn(id: string): string {
  return `the package of ${quoted(id)} has no such definition`
}

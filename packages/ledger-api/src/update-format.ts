/** What a request for updates asks to see: rights, rules and meaning of its formats (§L1.2 to §L1.5, §L3.1). */
import type { PartyId } from '@quorumscan/model'
import type { Reader } from './callers.ts'
import {
  denied,
  invalidArgument,
  invalidField,
  isPartyString,
  missingField,
  shown,
} from './commands/grammar.ts'
import {
  checkEventFormat,
  compileEventFormat,
  type EventFilter,
  type EventFormat,
  identifiersOf,
  type UpdateFormat,
} from './event-filter.ts'

/** ACS_DELTA shows creates and archivals, LEDGER_EFFECTS creates and exercises (§L2.4); trees the same by node id. */
export type Shape = 'acs-delta' | 'ledger-effects' | 'tree'

export type TransactionView = { readonly shape: Shape; readonly filter: EventFilter }

/** A format in the form that projection works with. What is null is not shown. */
export type UpdateView = {
  readonly transactions: TransactionView | null
  /** Parties whose hosting is shown; `'all'` for everybody's. */
  readonly topology: ReadonlySet<PartyId> | 'all' | null
}

/** The legacy form of a format (§L1.4). */
export type LegacyFilter = {
  readonly filter?: Pick<EventFormat, 'filtersByParty' | 'filtersForAnyParty'>
  readonly verbose: boolean
}

/**
 * One format of the two that a request may use.
 *
 * @throws {LedgerError} INVALID_ARGUMENT if there are both or none. `verbose: false` is as good as absent (D-27).
 */
export function combineFormats(
  request: LegacyFilter & { readonly updateFormat?: UpdateFormat },
): UpdateFormat {
  const format = oneForm('update_format', request.updateFormat, request)
  if (!('filtersByParty' in format)) return format
  const parties = Object.keys(format.filtersByParty)
  return {
    ...ofEvents(format, 'TRANSACTION_SHAPE_ACS_DELTA'),
    // D-27: topology events of the parties that it names; an empty list would mean everybody's.
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
export function combineTreeFormat(
  request: LegacyFilter & { readonly updateFormat?: UpdateFormat },
): UpdateFormat {
  const { updateFormat, filter, verbose } = request
  if (updateFormat !== undefined)
    throw invalidArgument('update_format must be unset in a request for trees')
  if (filter === undefined) throw invalidArgument('filter is required in a request for trees')
  const eventFormat = { ...filter, verbose }
  if (identifiersOf(eventFormat).length > 0)
    throw invalidArgument('a request for trees must not filter by templates or interfaces')
  return ofEvents(eventFormat, 'TRANSACTION_SHAPE_LEDGER_EFFECTS')
}

/** As `combineFormats`, where only events are asked for. */
export function combineEventFormats(
  request: LegacyFilter & { readonly eventFormat?: EventFormat },
): EventFormat {
  return oneForm('event_format', request.eventFormat, request)
}

/** The form of today, or the legacy one as a format of events. */
function oneForm<Format>(
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

function ofEvents(
  eventFormat: EventFormat,
  transactionShape: NonNullable<UpdateFormat['includeTransactions']>['transactionShape'],
): UpdateFormat {
  return {
    includeTransactions: { eventFormat, transactionShape },
    includeReassignments: eventFormat,
  }
}

/** @throws {LedgerError} PERMISSION_DENIED unless the caller may read as every party that the format names (§L6.2). */
export function assertMayRead(caller: Reader, format: UpdateFormat): void {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  for (const events of [includeTransactions?.eventFormat, includeReassignments])
    if (events !== undefined) assertMayReadEvents(caller, events)
  const { parties } = includeTopologyEvents?.includeParticipantAuthorizationEvents ?? {}
  if (parties !== undefined) assertMayReadAs(caller, parties.length === 0 ? 'all' : parties)
}

export function assertMayReadEvents(caller: Reader, format: EventFormat): void {
  if (format.filtersForAnyParty !== undefined) assertMayReadAs(caller, 'all')
  assertMayReadAs(caller, Object.keys(format.filtersByParty))
}

function assertMayReadAs({ userId, rights }: Reader, parties: readonly PartyId[] | 'all'): void {
  if (rights.some(({ kind }) => kind === 'CanReadAsAnyParty')) return
  if (parties === 'all') throw denied(`${userId} may not read as any party`)
  // One pass over the rights, however many parties a filter names.
  const readable = new Set(rights.flatMap((right) => ('party' in right ? [right.party] : [])))
  for (const party of parties)
    if (!readable.has(party)) throw denied(`${userId} may not read as ${party}`)
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
    if (!isPartyString(party)) throw invalidField('parties', `${shown(party)} is no party`)
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

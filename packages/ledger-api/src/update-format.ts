/** What a request for updates asks to see: rights, rules and meaning of its formats (§L1.2 to §L1.5, §L3.1). */
import type { LedgerError } from '@quorumscan/errors'
import type { PartyId } from '@quorumscan/model'
import type { Caller } from './callers.ts'
import { denied, fieldError, invalidArgument, isPartyString } from './commands/grammar.ts'
import {
  checkEventFormat,
  compileEventFormat,
  type EventFilter,
  type EventFormat,
  identifierFilters,
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
    throw invalidArgument('update_format must be unset where trees are asked for')
  if (filter === undefined) throw invalidArgument('filter is required where trees are asked for')
  const eventFormat = { ...filter, verbose }
  for (const each of identifierFilters(eventFormat))
    if ('TemplateFilter' in each || 'InterfaceFilter' in each)
      throw invalidArgument(
        'filters of templates and interfaces must be empty where trees are asked for',
      )
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

/** @throws {LedgerError} PERMISSION_DENIED unless the caller may read as everyone whom the format names (§L6.2). */
export function assertMayRead(caller: Pick<Caller, 'userId' | 'rights'>, format: UpdateFormat) {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  for (const events of [includeTransactions?.eventFormat, includeReassignments])
    if (events !== undefined) assertMayReadEvents(caller, events)
  const topology = includeTopologyEvents?.includeParticipantAuthorizationEvents
  if (topology === undefined) return
  if (topology.parties.length === 0) assertMayReadAll(caller)
  assertMayReadAs(caller, topology.parties)
}

export function assertMayReadEvents(
  caller: Pick<Caller, 'userId' | 'rights'>,
  format: EventFormat,
): void {
  if (format.filtersForAnyParty !== undefined) assertMayReadAll(caller)
  assertMayReadAs(caller, Object.keys(format.filtersByParty))
}

function assertMayReadAs(
  { userId, rights }: Pick<Caller, 'userId' | 'rights'>,
  parties: readonly PartyId[],
): void {
  // One pass over the rights, however many parties a filter names.
  const readable = new Set(rights.flatMap((right) => ('party' in right ? [right.party] : [])))
  const isEverything = rights.some(({ kind }) => kind === 'CanReadAsAnyParty')
  for (const party of parties)
    if (!isEverything && !readable.has(party)) throw denied(`${userId} may not read as ${party}`)
}

function assertMayReadAll({ userId, rights }: Pick<Caller, 'userId' | 'rights'>): void {
  if (!rights.some(({ kind }) => kind === 'CanReadAsAnyParty'))
    throw denied(`${userId} may not read as any party`)
}

/** @throws {LedgerError} MISSING_FIELD, INVALID_ARGUMENT, INVALID_FIELD: step 9 of §L3.1. */
export function checkUpdateFormat(format: UpdateFormat): void {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  if (includeTransactions !== undefined) {
    const { eventFormat, transactionShape } = includeTransactions
    if (eventFormat === undefined) throw missing('event_format')
    if (transactionShape === 'TRANSACTION_SHAPE_UNSPECIFIED') throw missing('transaction_shape')
    checkEventFormat(eventFormat)
  }
  if (includeReassignments !== undefined) checkEventFormat(includeReassignments)
  const topology = includeTopologyEvents?.includeParticipantAuthorizationEvents
  for (const party of topology?.parties ?? [])
    if (!isPartyString(party))
      throw fieldError('INVALID_FIELD', 'parties', 'parties: one of them is no party')
}

/** @throws {LedgerError} MISSING_FIELD. */
export function missing(field: string): LedgerError {
  return fieldError('MISSING_FIELD', field, `the member ${field} is missing`)
}

/**
 * @param format - Checked.
 * @throws {LedgerError} 404 where it names what is not known: step 10 of §L3.1.
 */
export function compileUpdateFormat(format: UpdateFormat): UpdateView {
  const { includeTransactions, includeReassignments, includeTopologyEvents } = format
  // One synchronizer: there are none, but a filter that cannot be is refused all the same.
  if (includeReassignments !== undefined) compileEventFormat(includeReassignments)
  const events = includeTransactions?.eventFormat
  const topology = includeTopologyEvents?.includeParticipantAuthorizationEvents
  const isEffects = includeTransactions?.transactionShape === 'TRANSACTION_SHAPE_LEDGER_EFFECTS'
  const shape = isEffects ? 'ledger-effects' : 'acs-delta'
  const parties = topology && (topology.parties.length === 0 ? 'all' : new Set(topology.parties))
  return {
    transactions: events === undefined ? null : { shape, filter: compileEventFormat(events) },
    topology: parties ?? null,
  }
}

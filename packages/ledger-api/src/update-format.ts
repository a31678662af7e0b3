/** What a request for updates asks to see: rights, rules and meaning of its formats (§L1.2 to §L1.5, §L3.1). */
import { LedgerError } from '@quorumscan/errors'
import type { PartyId } from '@quorumscan/model'
import type { Caller } from './callers.ts'
import { isPartyString } from './commands/grammar.ts'
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
  const { updateFormat, filter, verbose } = request
  if (updateFormat !== undefined) {
    if (filter !== undefined || verbose) throw bothSet('update_format')
    return updateFormat
  }
  if (filter === undefined) throw noneSet('update_format')
  const eventFormat = { ...filter, verbose }
  const parties = Object.keys(filter.filtersByParty)
  return {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    includeReassignments: eventFormat,
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
    throw new LedgerError(
      'INVALID_ARGUMENT',
      'update_format must be unset where trees are asked for',
    )
  if (filter === undefined)
    throw new LedgerError('INVALID_ARGUMENT', 'filter is required where trees are asked for')
  const eventFormat = { ...filter, verbose }
  for (const each of identifierFilters(eventFormat))
    if ('TemplateFilter' in each || 'InterfaceFilter' in each)
      throw new LedgerError(
        'INVALID_ARGUMENT',
        'filters of templates and interfaces must be empty where trees are asked for',
      )
  return {
    includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS' },
    includeReassignments: eventFormat,
  }
}

/** As `combineFormats`, where only events are asked for. */
export function combineEventFormats(
  request: LegacyFilter & { readonly eventFormat?: EventFormat },
): EventFormat {
  const { eventFormat, filter, verbose } = request
  if (eventFormat !== undefined) {
    if (filter !== undefined || verbose) throw bothSet('event_format')
    return eventFormat
  }
  if (filter === undefined) throw noneSet('event_format')
  return { ...filter, verbose }
}

function bothSet(member: string): LedgerError {
  return new LedgerError(
    'INVALID_ARGUMENT',
    `Both ${member} and filter/verbose are set. Please use either backwards compatible arguments or ${member}, but not both.`,
  )
}

function noneSet(member: string): LedgerError {
  return new LedgerError(
    'INVALID_ARGUMENT',
    `Either filter/verbose or ${member} is required. Please use either backwards compatible arguments or ${member}.`,
  )
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
    if (!isEverything && !readable.has(party))
      throw new LedgerError('PERMISSION_DENIED', `${userId} may not read as ${party}`)
}

function assertMayReadAll({ userId, rights }: Pick<Caller, 'userId' | 'rights'>): void {
  if (!rights.some(({ kind }) => kind === 'CanReadAsAnyParty'))
    throw new LedgerError('PERMISSION_DENIED', `${userId} may not read as any party`)
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
      throw new LedgerError('INVALID_FIELD', 'parties: one of them is no party', {
        context: { field_name: 'parties' },
      })
}

/** @throws {LedgerError} MISSING_FIELD. */
export function missing(field: string): LedgerError {
  return new LedgerError('MISSING_FIELD', `the member ${field} is missing`, {
    context: { field_name: field },
  })
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
  return {
    transactions:
      events === undefined
        ? null
        : {
            shape:
              includeTransactions?.transactionShape === 'TRANSACTION_SHAPE_LEDGER_EFFECTS'
                ? 'ledger-effects'
                : 'acs-delta',
            filter: compileEventFormat(events),
          },
    topology:
      topology === undefined
        ? null
        : topology.parties.length === 0
          ? 'all'
          : new Set(topology.parties),
  }
}

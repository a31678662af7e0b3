/**
 * Which events a format asks for (docs/upstream.md §L1.3, §L1.5): checked in two steps, as the
 * order of errors demands, then turned into one row of flags for each party, indexed by template.
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
import {
  invalidArgument,
  invalidField,
  isPackageName,
  isPartyString,
  shown,
} from './commands/grammar.ts'

type UpdatesRequest = BodyOf<(typeof ledgerRoutes)['getUpdates']>
export type UpdateFormat = NonNullable<UpdatesRequest['updateFormat']>
export type EventFormat = NonNullable<UpdateFormat['includeReassignments']>
type Filters = NonNullable<EventFormat['filtersForAnyParty']>
type IdentifierFilter = Filters['cumulative'][number]['identifierFilter']

/** Flags of a template for a party: the filter takes it, */
export const MATCHES = 1
/** with its blob, */
export const WITH_BLOB = 2
/** through the interface, */
export const BY_INTERFACE = 4
/** with the interface's view. */
export const WITH_VIEW = 8

/** Flags by index in `templates`. */
export type TemplateFlags = Uint8Array

export type EventFilter = {
  /** Of `filtersForAnyParty`; null where it is absent. */
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
    if (!isPartyString(party)) throw invalidArgument(`filtersByParty: ${shown(party)} is no party`)
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
  demand(isPackage, 'packageId', `${shown(packageRef)} is not # and a package name`)
  const isModule = module.split('.').every((part) => NAME.test(part))
  demand(isModule, 'moduleName', `${shown(module)} is no dotted name`)
  demand(NAME.test(entity), 'entityName', `${shown(entity)} is no name`)
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
    const index = templates.findIndex((template) => templateRef(template) === templateId)
    if (index < 0)
      throw new LedgerError('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', notIn(templateId))
    add(index, blob(includeCreatedEventBlob))
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
  return `the package of ${shown(id)} has no such definition`
}

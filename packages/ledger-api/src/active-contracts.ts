/**
 * Contracts that were active at an offset, as parties may see them (docs/upstream.md §L5.2).
 *
 * Redis holds what is active now. What was archived since the offset stands in the history of updates; what
 * is archived while the walk is on the way is looked up there at its end, unless it was shown already.
 */
import type { BodyOf, ledgerRoutes } from '@quorumscan/api'
import { contractBlob, templateOf, templates, toLfJson } from '@quorumscan/ledger'
import type { Contract, ContractId, Offset, PartyId } from '@quorumscan/model'
import type { Replica, UpdateHistory, UpdateRange } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import {
  checkEventFormat,
  compileEventFormat,
  type EventFilter,
  MATCHES,
  WITH_BLOB,
} from './event-filter.ts'
import { contractEventsJson, createdEventJson, eventJson } from './projection.ts'
import { assertMayReadEvents, combineEventFormats } from './update-format.ts'
import { afterLedgerEnd, negativeOffset, type UpdatesDeps } from './update-request.ts'
import { type Elements, prunedError } from './update-stream.ts'

export type ActiveContractsRequest = BodyOf<(typeof ledgerRoutes)['getActiveContracts']>

export type ActiveContractsDeps = UpdatesDeps & {
  readonly contracts: Pick<Replica, 'walkContracts'> & Pick<UpdateHistory, 'archivedContracts'>
  /** Signs every contract, and is therefore in no index of contracts by party. */
  readonly operator: PartyId
}

export type ActiveContractsQuery = { readonly at: Offset; readonly filter: EventFilter }

/** @throws {LedgerError} In the order of updates: format, rights, offset, what the format names, pruning. */
export async function checkActiveContracts(
  deps: ActiveContractsDeps,
  request: ActiveContractsRequest,
  caller: Pick<Caller, 'userId' | 'rights'>,
): Promise<ActiveContractsQuery> {
  const format = combineEventFormats(request)
  assertMayReadEvents(caller, format)
  const { activeAtOffset } = request
  const end = deps.feed.end().offset
  if (activeAtOffset < 0) throw negativeOffset('active_at_offset', activeAtOffset)
  if (activeAtOffset > end) throw afterLedgerEnd('active_at_offset', activeAtOffset, end)
  const at = Number(activeAtOffset)
  checkEventFormat(format)
  const filter = compileEventFormat(format)
  const pruned = await deps.prunedOffset()
  if (at < pruned) throw prunedError({ after: at, upTo: end, pruned })
  return { at, filter }
}

/** JSON of each contract, in no order; each once. */
export async function* activeContracts(
  deps: ActiveContractsDeps,
  { at, filter }: ActiveContractsQuery,
  signal: AbortSignal,
): Elements {
  const shown = new Set<ContractId>()
  const elementsOf = (contracts: readonly Contract[]): string[] =>
    contracts.flatMap((contract) => {
      if (contract.offset > at || shown.has(contract.contractId)) return []
      const element = contractJson(contract, filter, deps.synchronizerId)
      if (element === null) return []
      shown.add(contract.contractId)
      return [element]
    })
  let position = at
  for (const phase of ['before', 'walk', 'after'] as const) {
    const source =
      phase === 'walk'
        ? walk(deps, filter)
        : archivedContracts(deps, { after: position, upTo: deps.feed.end().offset, order: 'asc' })
    if (phase === 'before') position = deps.feed.end().offset
    for await (const contracts of source) {
      signal.throwIfAborted()
      const elements = elementsOf(contracts)
      if (elements.length > 0) yield elements
    }
  }
}

/**
 * Those whose ids come after one, at most so many, by id: JSON of each. A page looks at all that match, and
 * keeps no more than its own.
 */
export async function activeContractsPage(
  deps: ActiveContractsDeps,
  query: ActiveContractsQuery,
  page: { readonly after: string; readonly limit: number; readonly signal: AbortSignal },
): Promise<readonly (readonly [id: ContractId, json: string])[]> {
  let kept: [ContractId, string][] = []
  for await (const elements of activeContracts(deps, query, page.signal)) {
    for (const json of elements) {
      const id = CONTRACT_ID.exec(json)?.[1] ?? ''
      if (id > page.after) kept.push([id, json])
    }
    if (kept.length > 2 * page.limit)
      kept = kept.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, page.limit)
  }
  return kept.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, page.limit)
}

/** The first in an element is that of its contract. */
const CONTRACT_ID = /"contractId":"(00[0-9a-f]{64})"/

/** What can match, and more: by the indexes of the parties, or everything. */
async function* walk(
  deps: ActiveContractsDeps,
  { anyParty, byParty }: EventFilter,
): AsyncGenerator<readonly Contract[]> {
  if (anyParty !== null || byParty.has(deps.operator)) {
    yield* deps.contracts.walkContracts(null)
    return
  }
  for (const [party, flags] of byParty)
    for (const [index, { entity }] of templates.entries())
      if (((flags[index] ?? 0) & MATCHES) !== 0)
        yield* deps.contracts.walkContracts(`party:${entity}:${party}`)
}

/** Contracts of before a range that updates of the range archived. */
async function* archivedContracts(
  deps: Pick<ActiveContractsDeps, 'feed' | 'contracts'>,
  range: UpdateRange,
): AsyncGenerator<readonly Contract[]> {
  let rest: UpdateRange | null = range.after < range.upTo ? range : null
  while (rest !== null) {
    const portion = await deps.feed.read(rest)
    if (portion.kind === 'pruned')
      throw prunedError({ after: rest.after, upTo: rest.upTo, pruned: portion.upTo })
    yield Array.from(portion.updates).flatMap((update) => deps.contracts.archivedContracts(update))
    rest = portion.rest
  }
}

/** An element of the answer; null where nobody who asks may see it. */
function contractJson(contract: Contract, filter: EventFilter, synchronizerId: string) {
  const createdEvent = createdEventOf(contract, filter)
  if (createdEvent === null) return null
  const active = `{"createdEvent":${createdEvent},"synchronizerId":${JSON.stringify(synchronizerId)},"reassignmentCounter":0}`
  // The workflow belongs to the update, which may have been pruned.
  return `{"workflowId":"","contractEntry":{"JsActiveContract":${active}},"streamContinuationToken":""}`
}

/** JSON of a contract that outlived its update; null where nobody who asks may see it. */
function createdEventOf(contract: Contract, filter: EventFilter): string | null {
  const { type } = templateOf(contract)
  const template = templates.indexOf(templateOf(contract))
  const stakeholders = [...contract.signatories, ...contract.observers]
  let flags = filter.anyParty?.[template] ?? 0
  for (const party of stakeholders) flags |= filter.byParty.get(party)?.[template] ?? 0
  if ((flags & MATCHES) === 0) return null
  const witnesses = stakeholders.filter(
    (party) => filter.anyParty !== null || filter.byParty.has(party),
  )
  const hasBlob = (flags & WITH_BLOB) !== 0
  return createdEventJson(eventJson({ ...contract, template }), {
    template,
    payload: JSON.stringify(toLfJson(type.descriptor, contract.payload)),
    blob: hasBlob ? Buffer.from(contractBlob(contract)).toString('base64') : '',
    flags,
    witnesses: JSON.stringify(witnesses),
    signatories: JSON.stringify(contract.signatories),
    observers: JSON.stringify(contract.observers),
    createdAt: contract.createdAt,
    isDelta: true,
  })
}

/**
 * What became of one contract, as its stakeholders see it (docs/upstream.md §L5.2): JSON of the answer; null where the
 * contract is unknown or pruned, or nobody who asks has a stake in it. The update that archived it holds all of it: it is
 * found until that update is pruned, even where the update that created it was.
 */
export async function contractEvents(
  context: {
    readonly ledger: Pick<Replica, 'contracts'>
    readonly reads: ActiveContractsDeps & { readonly history: Pick<UpdateHistory, 'archivalOf'> }
  },
  id: ContractId,
  filter: EventFilter,
): Promise<string | null> {
  const { ledger, reads } = context
  const place = `"synchronizerId":${JSON.stringify(reads.synchronizerId)}}`
  const shown = (created: string | null, archived: string | null) =>
    created &&
    `{"created":{"createdEvent":${created},${place},"archived":${archived && `{"archivedEvent":${archived},${place}`}}`
  // In this order: what is archived between the two reads is found by the second.
  const [contract] = await ledger.contracts([id])
  if (contract) return shown(createdEventOf(contract, filter), null)
  const update = await reads.history.archivalOf(id)
  if (update === null) return null
  const events = contractEventsJson(update, id, filter)
  const eventOf = (name: string) => {
    const start = `{"${name}":`
    return events.find((json) => json.startsWith(start))?.slice(start.length, -1) ?? null
  }
  const earlier = reads.contracts.archivedContracts(update).find((one) => one.contractId === id)
  // One that the update created too is shown from its event.
  const created = earlier ? createdEventOf(earlier, filter) : eventOf('CreatedEvent')
  return shown(created, eventOf('ArchivedEvent'))
}

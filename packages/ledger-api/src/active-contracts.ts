/**
 * Contracts that were active at an offset, as parties may see them (docs/upstream.md §L5.2).
 *
 * Redis holds what is active now. What was archived since the offset stands in the history of updates; what
 * is archived while the walk is on the way is looked up there at its end, unless it was shown already.
 */
import type { LedgerBodyOf, ledgerRoutes } from '@quorumscan/api'
import {
  contractBlob,
  HOLDING_INTERFACE,
  holdingViewOf,
  templateOf,
  templates,
  toLfJson,
} from '@quorumscan/ledger'
import type { Contract, ContractId, Offset, PartyId } from '@quorumscan/model'
import type { Replica, UpdateHistory, UpdateRange } from '@quorumscan/replica'
import type { Caller } from './callers.ts'
import {
  checkEventFormat,
  compileEventFormat,
  type EventFilter,
  MATCHES,
  WITH_BLOB,
  WITH_VIEW,
} from './event-filter.ts'
import { formatInstant } from './instants.ts'
import { assertMayReadEvents, combineEventFormats } from './update-format.ts'
import { afterLedgerEnd, negativeOffset, type UpdatesDeps } from './update-request.ts'
import { type Elements, prunedError } from './update-stream.ts'

export type ActiveContractsRequest = LedgerBodyOf<(typeof ledgerRoutes)['getActiveContracts']>

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
export function contractJson(
  contract: Contract,
  filter: EventFilter,
  synchronizerId: string,
): string | null {
  const createdEvent = createdEventOf(contract, filter)
  if (createdEvent === null) return null
  return JSON.stringify({
    // The workflow belongs to the update, which may have been pruned.
    workflowId: '',
    contractEntry: { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter: 0 } },
    streamContinuationToken: '',
  })
}

/** A contract that outlived its update; null where nobody who asks may see it. */
export function createdEventOf(contract: Contract, filter: EventFilter): object | null {
  const template = templateOf(contract)
  const index = templates.indexOf(template)
  const stakeholders = [...contract.signatories, ...contract.observers]
  let flags = filter.anyParty?.[index] ?? 0
  for (const party of stakeholders) flags |= filter.byParty.get(party)?.[index] ?? 0
  if ((flags & MATCHES) === 0) return null
  const packageId = contract.templateId.slice(0, contract.templateId.indexOf(':'))
  const createArgument = toLfJson(template.type.descriptor, contract.payload)
  const interfaceId = packageId + HOLDING_INTERFACE.slice(HOLDING_INTERFACE.indexOf(':'))
  return {
    offset: contract.offset,
    nodeId: contract.nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    contractKey: null,
    contractKeyHash: '',
    createArgument,
    createdEventBlob:
      (flags & WITH_BLOB) === 0 ? '' : Buffer.from(contractBlob(contract)).toString('base64'),
    interfaceViews:
      (flags & WITH_VIEW) === 0
        ? []
        : [
            {
              interfaceId,
              viewStatus: { code: 0, message: '', details: [] },
              viewValue: holdingViewOf(createArgument as typeof contract.payload),
              implementationPackageId: packageId,
            },
          ],
    witnessParties: stakeholders.filter(
      (party) => filter.anyParty !== null || filter.byParty.has(party),
    ),
    signatories: contract.signatories,
    observers: contract.observers,
    createdAt: formatInstant(contract.createdAt),
    packageName: contract.packageName,
    representativePackageId: packageId,
    acsDelta: true,
  }
}

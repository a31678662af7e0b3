/** The ledger end, the active contracts and the events of a contract (docs/upstream.md §L5.2). */

import { type BodyOf, type ledgerRoutes, QUERYING_PARTIES_MAX } from '@quorumscan/api'
import { canReadAs } from '@quorumscan/auth'
import { utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import {
  contractBlob,
  holdingViewOf,
  partyKey,
  templateOf,
  templates,
  toLfJson,
} from '@quorumscan/ledger'
import {
  type Contract,
  type ContractId,
  type Offset,
  type PartyId,
  partyParticipant,
} from '@quorumscan/model'
import type { CallerRights } from './callers.ts'
import {
  denied,
  invalidArgument,
  missingField,
  quoted,
  requiredContractId,
} from './commands/grammar.ts'
import type { LedgerApiDeps, LedgerReads } from './dependencies.ts'
import {
  assertMayReadAs,
  assertMayReadEvents,
  type EventFilter,
  MATCHES,
  oneForm,
  readEventFormat,
  WITH_BLOB,
  WITH_VIEW,
} from './formats.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import { listHandler } from './list.ts'
import { afterLedgerEnd, assertNotPruned, negativeOffset, nonPositiveOffset } from './offsets.ts'
import { participantIdOf } from './participant-id.ts'
import { showContractEvents } from './projection.ts'
import {
  activeContractJson,
  contractEventsJson,
  createdEventJson,
  type ShownCreated,
  type ShownEvent,
} from './update-json.ts'
import { type Elements, type OpenStream, prunedError, type StreamReader } from './update-stream.ts'
import { checkProvider } from './users/handlers.ts'

/** Contracts of a page, as upstream. */
const PAGE_DEFAULT = 100
const PAGE_MAX = 2_000
/** Contracts read at once: some 3 ms of work, with their JSON, that delays other requests. */
const PORTION = 32
/** Ids of other forms are well-formed, but no contract of this ledger has one. */
const OUR_CONTRACT_ID = /^00[0-9a-f]{64}$/
/** The name by which a participant knows its synchronizer. */
const SYNCHRONIZER_ALIAS = 'global'

export function stateHandlers(
  context: Pick<LedgerApiDeps, 'reads' | 'participantId'>,
): LedgerHandlersOf<'state' | 'events' | 'contracts' | 'participant'> {
  const { reads } = context
  const { replica } = reads
  type PageRequest = Parameters<LedgerHandlersOf<'state'>['getActiveContractsPage']>[0]
  const page = async ({ body, caller, signal, countRows }: PageRequest): Promise<Uint8Array> => {
    const { eventFormat, maxPageSize = PAGE_DEFAULT } = body
    if (maxPageSize < 1 || maxPageSize > PAGE_MAX)
      throw invalidArgument(`max_page_size lies between 1 and ${PAGE_MAX}`)
    const token = readToken(body.pageToken ?? '')
    // A walk stays where its first page was read.
    const activeAtOffset = token?.at ?? body.activeAtOffset ?? reads.feed.end().offset
    const format = eventFormat === undefined ? {} : { eventFormat }
    const request = { activeAtOffset, ...format, verbose: false }
    const query = await checkActiveContracts(reads, request, caller)
    const found = await activeContractsPage(reads, query, {
      after: token?.after ?? '',
      limit: maxPageSize + 1,
      signal: await reads.guard.watch(caller, signal),
      onRows: countRows,
    })
    const shown = found.slice(0, maxPageSize)
    const last = found.length > maxPageSize ? shown.at(-1)?.contractId : undefined
    const next = last && Buffer.from(`${query.at}:${last}`).toString('base64url')
    const contracts = shown
      .map((contract) => activeContractJson(contract, reads.synchronizerId))
      .join(',')
    return utf8(
      `{"activeContracts":[${contracts}],"activeAtOffset":${query.at},"nextPageToken":${JSON.stringify(next ?? null)}}`,
    )
  }
  return {
    getActiveContractsPage: page,
    postActiveContractsPage: page,
    async getEventsByContractId({ body: { contractId, eventFormat }, caller, countRows }) {
      const id = requiredContractId(contractId, 'contract_id')
      if (eventFormat === undefined) throw missingField('event_format')
      assertMayReadEvents(caller, eventFormat)
      const filter = readEventFormat(eventFormat)
      const events = await eventsOf(reads, id, { filter, countRows })
      if (events === null)
        throw new LedgerError('CONTRACT_EVENTS_NOT_FOUND', `No visible events of ${quoted(id)}.`, {
          resources: [['CONTRACT_ID', id]],
        })
      return utf8(contractEventsJson(events, reads.synchronizerId))
    },
    async getContractById({ body, caller, countRows }) {
      const { contractId, queryingParties: parties } = body
      const id = requiredContractId(contractId, 'contract_id')
      if (parties.length > QUERYING_PARTIES_MAX)
        throw invalidArgument(`at most ${QUERYING_PARTIES_MAX} querying_parties are read at once`)
      const isAny = parties.length === 0
      assertMayReadAs(caller, isAny ? 'all' : parties)
      const all = { cumulative: [] }
      const filter = readEventFormat({
        filtersByParty: Object.fromEntries(parties.map((party) => [party, all])),
        ...(isAny ? { filtersForAnyParty: all } : {}),
        verbose: false,
      })
      const events = await eventsOf(reads, id, { filter, countRows })
      if (events === null)
        throw new LedgerError('CONTRACT_PAYLOAD_NOT_FOUND', `No visible contract ${quoted(id)}.`, {
          resources: [['CONTRACT_ID', id]],
        })
      return utf8(`{"createdEvent":${createdEventJson(events.created)}}`)
    },
    getLedgerEnd: async () => ({ offset: replica.head().offset }),
    getLatestPrunedOffsets: async () => prunedOffsets(await replica.history.prunedOffset()),
    async pruneParticipant({ body: { pruneUpTo } }) {
      const end = reads.feed.end().offset
      if (pruneUpTo <= 0) throw nonPositiveOffset('prune_up_to', pruneUpTo)
      if (pruneUpTo > end) throw afterLedgerEnd('prune_up_to', pruneUpTo, end)
      return prunedOffsets(await replica.prune(Number(pruneUpTo)))
    },
    getActiveContracts: listHandler(reads, openActiveContracts(reads), () => false),
    async getConnectedSynchronizers({ query, caller }) {
      const { party, participantId = '', identityProviderId = '' } = query
      checkProvider(identityProviderId)
      if (participantId !== '' && participantId !== context.participantId)
        throw invalidArgument(`this participant is ${context.participantId}`)
      if (party !== undefined && !canReadAs(caller.rights, party))
        throw denied(`${caller.userId} may not read as ${party}`)
      const isHosted =
        party === undefined || participantIdOf(partyParticipant(party)) === context.participantId
      const permission = isHosted
        ? 'PARTICIPANT_PERMISSION_SUBMISSION'
        : 'PARTICIPANT_PERMISSION_UNSPECIFIED'
      const { synchronizerId } = reads
      return {
        connectedSynchronizers: [
          { synchronizerAlias: SYNCHRONIZER_ALIAS, synchronizerId, permission },
        ],
      }
    },
  }
}

function prunedOffsets(offset: Offset) {
  return { participantPrunedUpToInclusive: offset, allDivulgedContractsPrunedUpToInclusive: offset }
}

const PAGE_TOKEN = /^([0-9]{1,16}):(00[0-9a-f]{64})$/

/** Null for the first page. @throws {LedgerError} INVALID_ARGUMENT. */
function readToken(token: string): { readonly at: Offset; readonly after: string } | null {
  if (token === '') return null
  const [, at, after] = PAGE_TOKEN.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? []
  if (at === undefined || after === undefined)
    throw invalidArgument('page_token was not issued by this participant')
  return { at: Number(at), after }
}

type ActiveContractsRequest = BodyOf<(typeof ledgerRoutes)['getActiveContracts']>

type ActiveContractsQuery = { readonly at: Offset; readonly filter: EventFilter }

export const openActiveContracts =
  (reads: LedgerReads) =>
  async (request: ActiveContractsRequest, caller: CallerRights): Promise<OpenStream> => {
    // An answer that began again at the first contract would be too large.
    if (request.streamContinuationToken !== '')
      throw invalidArgument('stream_continuation_token was not issued by this participant')
    const query = await checkActiveContracts(reads, request, caller)
    return (signal, reader) => activeContractElements(reads, query, { ...reader, signal })
  }

/** @throws {LedgerError} In the order of updates: format, rights, offset, names in the format, pruning. */
export async function checkActiveContracts(
  reads: LedgerReads,
  request: Omit<ActiveContractsRequest, 'streamContinuationToken'>,
  caller: CallerRights,
): Promise<ActiveContractsQuery> {
  const format = oneForm('event_format', request.eventFormat, request)
  assertMayReadEvents(caller, format)
  const { activeAtOffset } = request
  const end = reads.feed.end().offset
  if (activeAtOffset < 0) throw negativeOffset('active_at_offset', activeAtOffset)
  if (activeAtOffset > end) throw afterLedgerEnd('active_at_offset', activeAtOffset, end)
  const at = Number(activeAtOffset)
  const filter = readEventFormat(format)
  await assertNotPruned(reads, { after: at, upTo: end })
  return { at, filter }
}

type ActiveContractsOptions = Pick<StreamReader, 'elementsMax' | 'onRows'> & {
  readonly signal: AbortSignal
}

/** The contracts as elements of a stream. */
async function* activeContractElements(
  reads: LedgerReads,
  query: ActiveContractsQuery,
  options: ActiveContractsOptions,
): Elements {
  for await (const contracts of activeContracts(reads, query, options))
    yield contracts.map((contract) => activeContractJson(contract, reads.synchronizerId))
}

/** Each contract once, in no order. */
async function* activeContracts(
  reads: LedgerReads,
  { at, filter }: ActiveContractsQuery,
  options: ActiveContractsOptions,
): AsyncGenerator<readonly ShownCreated[], void, undefined> {
  const { signal, elementsMax = Number.POSITIVE_INFINITY, onRows } = options
  const shown = new Set<ContractId>()
  /** @param start - The index of the first contract that is looked at. */
  const portionOf = (contracts: readonly Contract[], start: number) => {
    const portion: ShownCreated[] = []
    let next = start
    while (next < contracts.length && portion.length < Math.max(elementsMax, 1)) {
      const contract = contracts[next++]
      if (contract === undefined || contract.offset > at || shown.has(contract.contractId)) continue
      const created = showContract(contract, filter)
      if (created === null) continue
      shown.add(contract.contractId)
      portion.push(created)
    }
    return { portion, next }
  }
  let position = at
  for (const phase of ['before', 'walk', 'after'] as const) {
    const source =
      phase === 'walk'
        ? walk(reads, { at, filter })
        : archivedContracts(reads, { at: position, filter }, onRows)
    if (phase === 'before') position = reads.feed.end().offset
    for await (const contracts of source) {
      signal.throwIfAborted()
      onRows?.(contracts.length)
      for (let start = 0; start < contracts.length; ) {
        const { portion, next } = portionOf(contracts, start)
        if (portion.length > 0) yield portion
        start = next
      }
    }
  }
}

/**
 * The contracts with the lowest ids after a given one, sorted by id. A page reads all contracts that match and keeps at
 * most twice its size.
 */
export async function activeContractsPage(
  reads: LedgerReads,
  query: ActiveContractsQuery,
  page: Pick<StreamReader, 'onRows'> & {
    readonly after: string
    readonly limit: number
    readonly signal: AbortSignal
  },
): Promise<readonly ShownCreated[]> {
  let kept: ShownCreated[] = []
  const lowest = () =>
    kept.sort((a, b) => (a.contractId < b.contractId ? -1 : 1)).slice(0, page.limit)
  for await (const contracts of activeContracts(reads, query, page)) {
    kept.push(...contracts.filter(({ contractId }) => contractId > page.after))
    if (kept.length > 2 * page.limit) kept = lowest()
  }
  return lowest()
}

/** A superset of the contracts that match: by the indexes of the parties those created up to the offset, or all contracts. */
async function* walk({ replica, operator }: LedgerReads, { at, filter }: ActiveContractsQuery) {
  if (partiesOf(filter, operator) === null) {
    yield* replica.walkContracts()
    return
  }
  const keys = [...filter.byParty].flatMap(([party, flags]) => {
    // Versions of a template share an index.
    const entities = new Set(
      templates
        .filter((_, index) => ((flags[index] ?? 0) & MATCHES) !== 0)
        .map((one) => one.entity),
    )
    return [...entities].map((entity) => partyKey(entity, party))
  })
  yield* replica.walkContractsByKeys(keys, {
    portion: PORTION,
    upTo: at,
  })
}

/** The parties whose contracts match; null for the contracts of any party. */
function partiesOf({ anyParty, byParty }: EventFilter, operator: PartyId): PartyId[] | null {
  return anyParty !== null || byParty.has(operator) ? null : [...byParty.keys()]
}

/** Of contracts that were active at the offset, those that are archived: a superset of those that match. */
async function* archivedContracts(
  { feed, operator, replica }: LedgerReads,
  { at, filter }: ActiveContractsQuery,
  onRows: StreamReader['onRows'],
) {
  if (at >= feed.end().offset) return
  const portions = replica.history.archivalsAfter(partiesOf(filter, operator), at)
  for await (const { pruned, updates } of portions) {
    // Pruning hides updates before it deletes what leads to them.
    if (pruned > at) throw prunedError({ after: at, upTo: feed.end().offset, pruned })
    onRows?.(updates.length)
    yield updates.flatMap((update) => replica.history.archivedContracts(update))
  }
  const pruned = await replica.history.prunedOffset()
  if (pruned > at) throw prunedError({ after: at, upTo: feed.end().offset, pruned })
}

/** The creation of a contract, also of one whose update was pruned; null if no party of the filter may see it. */
function showContract(contract: Contract, { anyParty, byParty }: EventFilter): ShownCreated | null {
  const { type } = templateOf(contract)
  const template = templates.indexOf(templateOf(contract))
  const stakeholders = [...contract.signatories, ...contract.observers]
  let flags = anyParty?.[template] ?? 0
  for (const party of stakeholders) flags |= byParty.get(party)?.[template] ?? 0
  if ((flags & MATCHES) === 0) return null
  const witnesses = stakeholders.filter((party) => anyParty !== null || byParty.has(party))
  const { offset, nodeId, contractId, signatories, observers, createdAt } = contract
  const payload = JSON.stringify(toLfJson(type.descriptor, contract.payload))
  return {
    kind: 'created',
    offset,
    nodeId,
    contractId,
    template,
    payload,
    blob: (flags & WITH_BLOB) === 0 ? '' : Buffer.from(contractBlob(contract)).toString('base64'),
    view: (flags & WITH_VIEW) === 0 ? null : holdingViewOf(JSON.parse(payload)),
    witnesses,
    signatories,
    observers,
    createdAt,
    isDelta: true,
  }
}

type ContractEvents = {
  readonly created: ShownCreated
  /** Null while it is active. */
  readonly archived: Extract<ShownEvent, { readonly kind: 'archived' }> | null
}

/**
 * The events of one contract, as its stakeholders see them (docs/upstream.md §L5.2); null if the contract is unknown or
 * pruned, or no party of the filter has a stake in it. The update that archived a contract holds it completely. So it is
 * found until that update is pruned, even if the update that created it was pruned before.
 */
async function eventsOf(
  { replica }: LedgerReads,
  id: ContractId,
  read: { readonly filter: EventFilter; readonly countRows: (rows: number) => void },
): Promise<ContractEvents | null> {
  const { filter, countRows } = read
  if (!OUR_CONTRACT_ID.test(id)) return null
  // In this order, so that the second read finds a contract that was archived after the first.
  const [contract] = await replica.contracts([id])
  countRows(1)
  if (contract) {
    const created = showContract(contract, filter)
    return created === null ? null : { created, archived: null }
  }
  const update = await replica.history.archivalOf(id)
  if (update === null) return null
  countRows(update.events.length)
  const events = showContractEvents(update, id, filter)
  const earlier = replica.history.archivedContracts(update).find((one) => one.contractId === id)
  // A contract that the same update created is shown from its event.
  const created = earlier
    ? showContract(earlier, filter)
    : (events.find((event) => event.kind === 'created') ?? null)
  const archived = events.find((event) => event.kind === 'archived') ?? null
  return created === null ? null : { created, archived }
}

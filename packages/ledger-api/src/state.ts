/** Where the ledger stands and what is active on it (docs/upstream.md §L5.2). */
import { canReadAs } from '@quorumscan/auth'
import { utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import { type Offset, partyParticipant } from '@quorumscan/model'
import {
  activeContractsPage,
  checkActiveContracts,
  contractEvents,
  openActiveContracts,
} from './active-contracts.ts'
import {
  denied,
  invalidArgument,
  missingField,
  requiredContractId,
  shown,
} from './commands/grammar.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import { readEventFormat } from './event-filter.ts'
import type { LedgerHandlersOf } from './http/handler.ts'
import { listHandler } from './list.ts'
import { participantIdOf } from './participant-id.ts'
import { assertMayReadEvents } from './update-format.ts'
import { afterLedgerEnd, nonPositiveOffset } from './update-request.ts'

/** Contracts of a page, as upstream. */
const PAGE_DEFAULT = 100
const PAGE_MAX = 2_000
/** Ids of other forms are well-formed, but no contract of this ledger has one. */
const OUR_CONTRACT_ID = /^00[0-9a-f]{64}$/
/** The name by which a participant knows its synchronizer. */
const SYNCHRONIZER_ALIAS = 'global'

export function stateHandlers(
  context: Pick<LedgerApiDeps, 'reads' | 'participantId'>,
): LedgerHandlersOf<'state' | 'events' | 'participant'> {
  const { reads } = context
  const { replica } = reads
  type PageRequest = Parameters<LedgerHandlersOf<'state'>['getActiveContractsPage']>[0]
  const page = async ({ body, caller, signal }: PageRequest): Promise<Uint8Array> => {
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
      signal: reads.guard.watch(caller, signal),
    })
    const shown = found.slice(0, maxPageSize)
    const last = found.length > maxPageSize ? shown.at(-1)?.[0] : undefined
    const next = last && Buffer.from(`${query.at}:${last}`).toString('base64url')
    const contracts = shown.map(([, json]) => json).join(',')
    return utf8(
      `{"activeContracts":[${contracts}],"activeAtOffset":${query.at},"nextPageToken":${JSON.stringify(next ?? null)}}`,
    )
  }
  return {
    getActiveContractsPage: page,
    postActiveContractsPage: page,
    async getEventsByContractId({ body: { contractId, eventFormat }, caller }) {
      const id = requiredContractId(contractId, 'contract_id')
      if (eventFormat === undefined) throw missingField('event_format')
      assertMayReadEvents(caller, eventFormat)
      const filter = readEventFormat(eventFormat)
      const events = OUR_CONTRACT_ID.test(id) ? await contractEvents(reads, id, filter) : null
      if (events === null)
        throw new LedgerError('CONTRACT_EVENTS_NOT_FOUND', `No visible events of ${shown(id)}.`, {
          resources: [['CONTRACT_ID', id]],
        })
      return utf8(events)
    },
    async getLedgerEnd() {
      return { offset: replica.head().offset }
    },
    async getLatestPrunedOffsets() {
      return prunedOffsets(await replica.history.prunedOffset())
    },
    async pruneParticipant({ body: { pruneUpTo } }) {
      const end = reads.feed.end().offset
      if (pruneUpTo <= 0) throw nonPositiveOffset('prune_up_to', pruneUpTo)
      if (pruneUpTo > end) throw afterLedgerEnd('prune_up_to', pruneUpTo, end)
      return prunedOffsets(await replica.prune(Number(pruneUpTo)))
    },
    getActiveContracts: listHandler(reads, openActiveContracts(reads), () => false),
    async getConnectedSynchronizers({ query, caller }) {
      const { party } = query
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
  return {
    participantPrunedUpToInclusive: offset,
    allDivulgedContractsPrunedUpToInclusive: offset,
  }
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

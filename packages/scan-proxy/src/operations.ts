/**
 * The operations of the scan proxy that read, as one table: a row says what its route asks of the network, and in which
 * form it answers. `pipeline.ts` makes a handler of each row. Pure.
 */
import { isScanAnswer, type validatorRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import {
  INSTRUMENT_ID,
  type PagePosition,
  type PageSubject,
  parsePageToken,
} from '@quorumscan/model'
import {
  activitiesBytesMax,
  type Decided,
  entriesBytesMax,
  type ReadRequest,
  scansBytesMax,
} from '@quorumscan/reader'
import {
  type CertifiedQuery,
  requestOfActivitiesPage,
  requestOfEntriesPage,
} from '@quorumscan/reader/certified'
import type { ApiRequest } from '@quorumscan/server'
import {
  type CanonicalRequest,
  type Genesis,
  type Lookup,
  type NetworkName,
  requestOfActivities,
  type TrustRule,
  utf8,
} from '@quorumscan/verifier'
import { networkQuery, queryOf } from '@quorumscan/verifier/certified'
import { assertOwnNetwork, partyNameOf, readOfName } from './party-names.ts'
import {
  isCompleteRounds,
  isCompleteRules,
  isSharedDso,
  roundsAnswer,
  rulesAnswer,
  sharedDsoAnswer,
} from './upstream-shapes.ts'

/** What a caller asks: one entry, a batch of entries, or another read of a node. */
export type ProxyRead =
  | { readonly lookup: Lookup }
  | { readonly lookups: readonly Lookup[] }
  | NodeRead

/** A read of a node, in the form of certified reads and with what voted ones need. */
export type NodeRead = CertifiedQuery<unknown> & {
  /** The largest answer: a node that sends more has failed. */
  readonly bytesMax: number
  /** D-35: what does not fit the schema of the operation is no vote. */
  readonly isValid: (body: unknown) => boolean
  /** The position of a walk over pages; null: its first page, or no walk. */
  readonly position: PagePosition | null
}

export type ProxyNetwork = {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** Its name in qualified names of parties. */
  readonly networkName: NetworkName
  /** Whose answers and signatures count (D-75); null: those of all members. */
  readonly trustRule: TrustRule | null
}
type ScanRoute = Parameters<typeof isScanAnswer>[0]

export type Operation<Request> = {
  /** `known`: an answer that needs no read. */
  readOf(request: Request, network: ProxyNetwork): ProxyRead | { readonly known: Uint8Array }
  /** Converts to another shape than that of the nodes. Default: byte for byte what the nodes gave. */
  readonly form?: (outcome: Pick<Decided, 'answer' | 'agreed'>, network: ProxyNetwork) => Uint8Array
  /** The body where the entry does not exist. Default: ENTRY_NOT_FOUND. */
  readonly absent?: Uint8Array
  /** D-51: has no certified answer. */
  readonly isVotedOnly?: boolean
}

type OperationId = Exclude<
  keyof typeof validatorRoutes & `proxy${string}`,
  'proxyGetGenesis' | 'proxyListEvidence'
>

export const OPERATIONS: {
  readonly [Id in OperationId]: Operation<ApiRequest<(typeof validatorRoutes)[Id], unknown>>
} = {
  proxyGetEntryByName: { readOf: ({ params }) => ({ lookup: { name: params.name } }) },
  proxyGetEntryByParty: { readOf: ({ params }) => ({ lookup: { party: params.party } }) },
  proxyLookupEntries: { readOf: ({ body }) => ({ lookups: body.lookups }) },
  proxyListEntries: {
    readOf: ({ query }, network) =>
      entriesPage({ kind: 'prefix', prefix: query.name_prefix ?? '' }, query, network),
  },
  proxyListEntriesByParty: {
    readOf: ({ params, query }, network) =>
      entriesPage({ kind: 'party', party: params.party }, query, network),
  },
  proxyResolve: {
    readOf: ({ query }, { networkName }) => readOfName(query, networkName),
    form: ({ answer }, { networkName }) => utf8(JSON.stringify(partyNameOf(answer, networkName))),
  },
  proxyReverseResolve: {
    readOf({ query: { party, network } }, { networkName }) {
      assertOwnNetwork(network, networkName)
      return { lookup: { party } }
    },
    form: ({ answer }, { networkName }) => utf8(JSON.stringify([partyNameOf(answer, networkName)])),
    absent: utf8('[]'),
  },
  proxyListActivities: { readOf: ({ body }) => activitiesPage(body) },
  proxyGetAnsRules: {
    readOf({ body }) {
      const read = networkRead('getAnsRules', '/v0/ans-rules', {
        cached_ans_rules_contract_id: body.cached_ans_rules_contract_id ?? null,
        cached_ans_rules_domain_id: body.cached_ans_rules_domain_id ?? null,
      })
      // A certified answer has the whole rules, for any cached contract.
      return { ...read, body: read.request.parameters, stateQuery: () => networkQuery('ans-rules') }
    },
  },
  proxyGetDso: {
    readOf: (_, { genesis }) => ({ ...DSO, isValid: (body) => isSharedDso(body, genesis) }),
    form: sharedDsoAnswer,
  },
  proxyListScans: { readOf: () => SCANS },
  proxyGetSpliceInstanceNames: { readOf: () => INSTANCE_NAMES, isVotedOnly: true },
  proxyGetFeaturedApp: {
    readOf: ({ params: { provider_party_id: party } }) =>
      networkRead('getFeaturedApp', `/v0/featured-apps/${encodeURIComponent(party)}`, { party }),
    isVotedOnly: true,
  },
  proxyGetRegistryInfo: { readOf: () => REGISTRY_INFO, isVotedOnly: true },
  // The one page has the one instrument, whatever its size.
  proxyListInstruments: { readOf: () => INSTRUMENTS, isVotedOnly: true },
  proxyGetInstrument: {
    readOf({ params: { instrumentId } }) {
      // A 404 of a node is no vote (D-35).
      if (instrumentId !== INSTRUMENT_ID) throw noInstrument()
      return INSTRUMENT
    },
    isVotedOnly: true,
  },
  proxyGetDsoPartyId: { readOf: () => DSO_PARTY_ID, isVotedOnly: true },
  proxyGetAmuletRules: { readOf: () => AMULET_RULES, form: rulesAnswer, isVotedOnly: true },
  proxyGetOpenAndIssuingMiningRounds: {
    readOf: () => MINING_ROUNDS,
    form: roundsAnswer,
    isVotedOnly: true,
  },
}

function noInstrument(): ScanError {
  return new ScanError('INSTRUMENT_NOT_FOUND', `The registry has one instrument, ${INSTRUMENT_ID}.`)
}

/** The request of a voted read. */
export function voteRequestOf(read: NodeRead): ReadRequest {
  const { request, path, body, bytesMax, isValid, position } = read
  return {
    ...request,
    method: body === null ? 'GET' : 'POST',
    path,
    body: body === null ? null : utf8(JSON.stringify(body)),
    bytesMax,
    isValid,
    // A walk over pages is one read at the offset in its token (D-39).
    pin: position === null ? 'reader' : 'request',
  }
}

type PageQuery = { readonly page_size: number; readonly page_token?: string }

/** @throws {ScanError} INVALID_PAGE_TOKEN. Every node gives the same tokens, so none has to be asked. */
function entriesPage(subject: PageSubject, query: PageQuery, network: ProxyNetwork): NodeRead {
  const { page_size: pageSize, page_token: pageToken = null } = query
  const position =
    pageToken === null ? null : parsePageToken(network.genesisHash, subject, pageToken)
  if (position === undefined)
    throw new ScanError(
      'INVALID_PAGE_TOKEN',
      'The page token was not issued for this list: pass next_page_token of the page before, unchanged.',
    )
  const asked = requestOfEntriesPage({ subject, pageSize, pageToken })
  return nodeRead(asked, { bytesMax: entriesBytesMax(pageSize), position })
}

/** Each page is pinned by itself: newer rows lie outside of the pages that the walk has read. */
function activitiesPage(body: Parameters<typeof requestOfActivities>[0]): NodeRead {
  const { page_size: pageSize, ...asked } = requestOfActivities(body).parameters
  const page = { pageSize, after: asked.begin_after_id, order: asked.sort_order }
  return nodeRead(requestOfActivitiesPage(page), { bytesMax: activitiesBytesMax(pageSize) })
}

/** Entries for the answers of a network of a hundred members. */
const NETWORK_ENTRIES = 8
/** Twice the bytes of such an answer. */
const NETWORK_BYTES_MAX = scansBytesMax(256)

/** A read of the network's own data: rules, rounds, members, addresses. */
function networkRead(
  operation: ScanRoute,
  path: string,
  parameters: CanonicalRequest['parameters'] = {},
  more: Partial<NodeRead> = {},
): NodeRead {
  const request = { operation, parameters }
  const stateQuery: NodeRead['stateQuery'] = (network) => queryOf(request, network)
  const asked = { request, stateQuery, path, body: null, entryCountMax: NETWORK_ENTRIES }
  return nodeRead(asked, { bytesMax: NETWORK_BYTES_MAX, ...more })
}

function nodeRead(
  asked: CertifiedQuery<unknown>,
  more: Pick<NodeRead, 'bytesMax'> & Partial<NodeRead>,
): NodeRead {
  // The routes of a node are those that requests name.
  const operation = asked.request.operation as ScanRoute
  return { ...asked, position: null, isValid: (body) => isScanAnswer(operation, body), ...more }
}

// Without the members that name the answering node, which differ from node to node (D-10).
const DSO = networkRead('getDso', '/v0/dso?shared=true', { shared: true })
const SCANS = networkRead('listScans', '/v0/scans')
const INSTANCE_NAMES = networkRead('getSpliceInstanceNames', '/v0/splice-instance-names')
const METADATA = '/registry/metadata/v1'
const REGISTRY_INFO = networkRead('getRegistryInfo', `${METADATA}/info`)
const INSTRUMENTS = networkRead('listInstruments', `${METADATA}/instruments`)
const INSTRUMENT = networkRead('getInstrument', `${METADATA}/instruments/${INSTRUMENT_ID}`, {
  instrument: INSTRUMENT_ID,
})
const DSO_PARTY_ID = networkRead('getDsoPartyId', '/v0/dso-party-id')
// Nothing is cached: the answer has the contracts themselves.
const NO_RULES = { cached_amulet_rules_contract_id: null, cached_amulet_rules_domain_id: null }
const AMULET_RULES = networkRead('getAmuletRules', '/v0/amulet-rules', NO_RULES, {
  body: NO_RULES,
  isValid: isCompleteRules,
})
const NO_ROUNDS = {
  cached_open_mining_round_contract_ids: [],
  cached_issuing_round_contract_ids: [],
}
const ROUNDS_PATH = '/v0/open-and-issuing-mining-rounds'
const MINING_ROUNDS = networkRead('getOpenAndIssuingMiningRounds', ROUNDS_PATH, NO_ROUNDS, {
  body: NO_ROUNDS,
  isValid: isCompleteRounds,
})

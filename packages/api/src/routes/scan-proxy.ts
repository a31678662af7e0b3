/**
 * The validator's scan proxy: the lookups of a scan node, answered by the number of nodes that the threshold requires
 * (D-34 to D-40). Public (D-32). `packages/scan-proxy/src/operations.ts` has a row for each, from which `pipeline.ts`
 * makes its handler.
 */
import { type TProperties, Type } from 'typebox'
import { COST_LOOKUP, COST_VERIFIED, COST_VERIFIED_DOCUMENT, verifiedCost } from '../cost.ts'
import { defineRoutes, type RouteDef, route } from '../route-def.ts'
import { ACTIVITY_ORDER, ActivitiesRequest } from '../schemas/activities.ts'
import { EvidenceAnswer } from '../schemas/certified.ts'
import { AmuletRulesProxyAnswer, MiningRoundsProxyAnswer } from '../schemas/coin-rules.ts'
import {
  AnsRulesRequest,
  batchMembers,
  listByPartyQuery,
  listQuery,
  PartyName,
  PartyNames,
  resolveQuery,
  reverseResolveQuery,
} from '../schemas/entries.ts'
import * as m from '../schemas/members.ts'
import { LedgerOffset, MaxAgeMs, ProxyQuorum } from '../schemas/scalars.ts'
import { instrumentsQuery } from '../schemas/upstream.ts'
import { scanRoutes } from './scan.ts'

const quorumHeaders = Type.Object({
  accept: Type.Optional(Type.String()),
  'x-quorum': Type.Optional(ProxyQuorum),
  'x-min-offset': m.omittable(LedgerOffset, 'Read no older offset than this.'),
  'x-max-age-ms': Type.Optional(MaxAgeMs),
})

/** The query of a read with the threshold. A misspelt `quorum` is refused, because it would have the effect of `weak`. */
function proxyQuery<const Members extends TProperties>(members: Members) {
  const properties = { ...members, quorum: Type.Optional(ProxyQuorum) }
  return Type.Object(properties, { additionalProperties: false })
}

const quorumErrors = [
  'INVALID_QUORUM',
  'CONSENSUS_DISPUTED',
  'NOT_ENOUGH_NODES',
  'CONSENSUS_LAGGING',
] as const

const proxied = {
  tag: 'scan-proxy',
  auth: 'none',
  headers: quorumHeaders,
  query: proxyQuery({}),
  responseHeaders: ['quorum'],
  errors: quorumErrors,
  cost: COST_VERIFIED as RouteDef['cost'],
} as const

const document = { ...proxied, cost: COST_VERIFIED_DOCUMENT } as const

const certifiedErrors = [...quorumErrors, 'OFFSET_PRUNED'] as const

/** A read of a node as a route of the proxy: the same request and answer, confirmed by several nodes. */
function through<const Route extends RouteDef>(ofNode: Route) {
  const { operationId, path: nodePath, headers, query, responseHeaders, tag, ...same } = ofNode
  const errors = ofNode.otherForms === undefined ? quorumErrors : certifiedErrors
  // Wallets take the proxy for the address of the registry, and add its paths.
  const below = nodePath.replace(/^\/v0/, '')
  const path = `/v0/scan-proxy${below}` as const
  return { ...proxied, ...same, errors, path, cost: verifiedCost(ofNode.cost) }
}

const ownRead = { tag: 'scan-proxy', auth: 'none', errors: [], cost: COST_LOOKUP } as const

const NAMING =
  'Canton Party Name Resolution Standard, draft of 2026-08-29. Names of `cns` are those of the name service, compared exactly. A party resolves to itself: no node is asked, and there are no `x-quorum-*` headers. Another network or naming system is INVALID_ARGUMENT.'

export const scanProxyRoutes = defineRoutes({
  proxyListEntries: {
    ...through(scanRoutes.listEntries),
    query: proxyQuery(listQuery),
    errors: [...certifiedErrors, 'INVALID_PAGE_TOKEN'],
  },
  proxyGetEntryByName: {
    ...through(scanRoutes.getEntryByName),
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND'],
  },
  proxyGetEntryByParty: {
    ...through(scanRoutes.getEntryByParty),
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND', 'INVALID_PARTY'],
  },
  proxyListEntriesByParty: {
    ...through(scanRoutes.listEntriesByParty),
    query: proxyQuery(listByPartyQuery),
    errors: [...certifiedErrors, 'INVALID_PARTY', 'INVALID_PAGE_TOKEN'],
  },
  proxyLookupEntries: {
    ...through(scanRoutes.lookupEntries),
    body: Type.Object(batchMembers),
    errors: [...certifiedErrors, 'INVALID_PARTY'],
  },
  proxyResolve: route('GET /v0/resolve', proxied, {
    summary: 'The party of a name, in the form of the draft standard of party names.',
    description: NAMING,
    query: proxyQuery(resolveQuery),
    response: PartyName,
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND'],
  }),
  proxyReverseResolve: route('GET /v0/reverse-resolve', proxied, {
    summary: 'The names of a party, in the form of the draft standard of party names.',
    description: NAMING,
    query: proxyQuery(reverseResolveQuery),
    response: PartyNames,
    errors: [...certifiedErrors, 'INVALID_PARTY'],
  }),
  proxyListActivities: {
    ...through(scanRoutes.listActivities),
    description:
      ACTIVITY_ORDER +
      'A client reads on with the event_id of its last row until a page is empty. Each page is read at the newest offset that enough nodes have. No page skips or repeats a row.\n\n' +
      'The path is a WebSocket as well (GET, no token, no sub-protocol). It reports when to read on. The first frame, within 10 s, is `{}`. ' +
      'The server sends `{"offset":N}` at once, after each change of the ledger, and every 15 s. A page that is read with `min_offset` N contains all rows until then. Frames prove nothing; pages do. An error, in the form of all errors, is the last frame. ' +
      'A frame costs a unit. At most 64 such sockets of one client address, 1024 of all clients.',
    body: ActivitiesRequest,
  },
  proxyGetAnsRules: {
    ...through(scanRoutes.getAnsRules),
    body: AnsRulesRequest,
    acceptsTextPlain: false,
    cost: COST_VERIFIED_DOCUMENT,
  },
  proxyGetAmuletRules: route('GET /v0/scan-proxy/amulet-rules', document, {
    summary: 'The rules of coin in the form of upstream.',
    response: AmuletRulesProxyAnswer,
  }),
  proxyGetOpenAndIssuingMiningRounds: route(
    'GET /v0/scan-proxy/open-and-issuing-mining-rounds',
    document,
    { summary: 'The open rounds.', response: MiningRoundsProxyAnswer },
  ),
  proxyGetDsoPartyId: through(scanRoutes.getDsoPartyId),
  proxyGetDso: {
    ...through(scanRoutes.getDso),
    summary: 'The operator party and its rules, with the first node that agreed.',
    cost: COST_VERIFIED_DOCUMENT,
  },
  proxyListScans: { ...through(scanRoutes.listScans), cost: COST_VERIFIED_DOCUMENT },
  proxyGetSpliceInstanceNames: through(scanRoutes.getSpliceInstanceNames),
  proxyGetFeaturedApp: {
    ...through(scanRoutes.getFeaturedApp),
    errors: [...quorumErrors, 'INVALID_PARTY'],
  },
  proxyGetRegistryInfo: through(scanRoutes.getRegistryInfo),
  proxyListInstruments: {
    ...through(scanRoutes.listInstruments),
    query: proxyQuery(instrumentsQuery),
  },
  proxyGetInstrument: {
    ...through(scanRoutes.getInstrument),
    errors: [...quorumErrors, 'INSTRUMENT_NOT_FOUND'],
  },
  proxyGetGenesis: route('GET /v0/scan-proxy/genesis', ownRead, {
    summary: 'The genesis document, as this validator has it.',
    response: scanRoutes.getGenesis.response,
  }),
  proxyListEvidence: route('GET /v0/scan-proxy/evidence', ownRead, {
    summary: 'Proofs that a node equivocates: pairs of conflicting statements or block votes.',
    description:
      'The first and last 16 of each node that this validator has seen; each can be verified offline.',
    response: EvidenceAnswer,
  }),
})

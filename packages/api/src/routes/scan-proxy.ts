/**
 * The validator's scan proxy: the lookups of a scan node, answered by as many nodes as the threshold
 * asks for (D-34 to D-40). Public (D-32).
 */
import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { COST_LOOKUP } from '../cost.ts'
import { defineRoutes, type RouteDef, route } from '../route-def.ts'
import { ACTIVITY_ORDER, ActivitiesRequest } from '../schemas/activities.ts'
import { EvidenceAnswer } from '../schemas/certified.ts'
import { AmuletRulesProxyAnswer, MiningRoundsProxyAnswer } from '../schemas/coin-rules.ts'
import { AnsRulesRequest, batchMembers, listByPartyQuery, listQuery } from '../schemas/entries.ts'
import * as m from '../schemas/members.ts'
import { LedgerOffset, MaxAgeMs, ProxyQuorum } from '../schemas/scalars.ts'
import { scanRoutes } from './scan.ts'

const quorumHeaders = Type.Object({
  accept: Type.Optional(Type.String()),
  'x-quorum': Type.Optional(ProxyQuorum),
  'x-min-offset': m.omittable(LedgerOffset, 'Read no older offset than this.'),
  'x-max-age-ms': Type.Optional(MaxAgeMs),
})

const quorumQuery = { quorum: Type.Optional(ProxyQuorum) }

const quorumErrors = [
  'INVALID_QUORUM',
  'CONSENSUS_DISPUTED',
  'NOT_ENOUGH_NODES',
  'CONSENSUS_LAGGING',
] as const satisfies readonly ErrorCode[]

const proxied = {
  tag: 'scan-proxy',
  auth: 'none',
  headers: quorumHeaders,
  query: Type.Object(quorumQuery),
  responseHeaders: ['quorum'],
  errors: quorumErrors,
  cost: COST_LOOKUP,
} as const

const certifiedErrors = [...quorumErrors, 'OFFSET_PRUNED'] as const satisfies readonly ErrorCode[]

/** A read of a node as the proxy has it: the same question and answer, which more of them stand behind. */
function through<const Route extends RouteDef>(ofNode: Route) {
  const { operationId, path, headers, query, responseHeaders, tag, ...same } = ofNode
  const errors = ofNode.otherForms === undefined ? quorumErrors : certifiedErrors
  return {
    ...proxied,
    ...same,
    errors,
    path: path.replace('/v0', '/v0/scan-proxy') as `/${string}`,
  }
}

const told = { tag: 'scan-proxy', auth: 'none', errors: [], cost: COST_LOOKUP } as const

export const scanProxyRoutes = defineRoutes({
  proxyListEntries: {
    ...through(scanRoutes.listEntries),
    query: Type.Object({ ...listQuery, ...quorumQuery }),
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
    query: Type.Object({ ...listByPartyQuery, ...quorumQuery }),
    errors: [...certifiedErrors, 'INVALID_PARTY', 'INVALID_PAGE_TOKEN'],
  },
  proxyLookupEntries: {
    ...through(scanRoutes.lookupEntries),
    body: Type.Object(batchMembers),
    errors: [...certifiedErrors, 'INVALID_PARTY'],
  },
  proxyListActivities: {
    ...through(scanRoutes.listActivities),
    description:
      ACTIVITY_ORDER +
      'A walk goes on with the event_id of its last row until a page is empty. Each page is read at the newest offset that enough nodes have; none of them skips or repeats a row.\n\n' +
      'The path is a WebSocket as well (GET, no token, no sub-protocol), which tells when to read on: the first frame, within 10 s, is `{}`. ' +
      'Each frame of the server is `{"offset":N}`, at once, whenever the ledger has changed, and every 15 s: a page that is read with `min_offset` N has what came until then. It proves nothing; pages do. An error, in the form of all errors, is the last frame. ' +
      'A frame costs a unit. Of one client address at most 256 such sockets, of all clients 1024.',
    body: ActivitiesRequest,
  },
  proxyGetAnsRules: {
    ...through(scanRoutes.getAnsRules),
    body: AnsRulesRequest,
    acceptsTextPlain: false,
  },
  proxyGetAmuletRules: route('GET /v0/scan-proxy/amulet-rules', proxied, {
    summary: 'The rules of coin as upstream tells them.',
    response: AmuletRulesProxyAnswer,
  }),
  proxyGetOpenAndIssuingMiningRounds: route(
    'GET /v0/scan-proxy/open-and-issuing-mining-rounds',
    proxied,
    {
      summary: 'The open rounds.',
      response: MiningRoundsProxyAnswer,
    },
  ),
  proxyGetDsoPartyId: through(scanRoutes.getDsoPartyId),
  proxyGetDso: {
    ...through(scanRoutes.getDso),
    summary: 'The operator party and its rules, with the first node that agreed.',
  },
  proxyListScans: through(scanRoutes.listScans),
  proxyGetGenesis: route('GET /v0/scan-proxy/genesis', told, {
    summary: 'The genesis document, as this validator has it.',
    response: scanRoutes.getGenesis.response,
  }),
  proxyListEvidence: route('GET /v0/scan-proxy/evidence', told, {
    summary: 'What proves that a node signed two different states at one offset.',
    description:
      'The first and last 16 of each node that this validator has come across; each can be verified offline.',
    response: EvidenceAnswer,
  }),
})

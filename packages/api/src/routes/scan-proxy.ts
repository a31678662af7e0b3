/**
 * The validator's scan proxy: the lookups of a scan node, answered by as many nodes as the threshold
 * asks for (D-34 to D-40). Public (D-32).
 */
import type { ErrorCode } from '@quorumscan/errors'
import { Type } from 'typebox'
import { activitiesCost, batchCost, COST_LOOKUP, pageCost } from '../cost.ts'
import { defineRoutes } from '../route-def.ts'
import { ACTIVITY_ORDER, ActivitiesAnswer, ActivitiesRequest } from '../schemas/activities.ts'
import { CERTIFIED_MEDIA_TYPE, CertifiedActivities, CertifiedAnswer } from '../schemas/certified.ts'
import { AmuletRulesProxyAnswer, MiningRoundsProxyAnswer } from '../schemas/coin-rules.ts'
import {
  AnsRulesAnswer,
  AnsRulesRequest,
  BatchAnswer,
  batchMembers,
  EntryAnswer,
  EntryPage,
  listByPartyQuery,
  listQuery,
} from '../schemas/entries.ts'
import { about } from '../schemas/members.ts'
import { DsoAnswer, DsoPartyIdAnswer, GenesisAnswer, ScansAnswer } from '../schemas/network.ts'
import { MaxAgeMs, ProxyQuorum } from '../schemas/quorum.ts'
import { LedgerOffset, LookupName, Party } from '../schemas/scalars.ts'
import { EvidenceAnswer } from '../schemas/verified.ts'

const quorumHeaders = Type.Object({
  accept: Type.Optional(Type.String()),
  'x-quorum': Type.Optional(ProxyQuorum),
  'x-min-offset': Type.Optional(about(LedgerOffset, 'Read no older offset than this.')),
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

/** Of a read that is answered with its proof as well. */
const certifiedForms = { [CERTIFIED_MEDIA_TYPE]: CertifiedAnswer } as const

const certifiedErrors = [...quorumErrors, 'OFFSET_PRUNED'] as const satisfies readonly ErrorCode[]

export const scanProxyRoutes = defineRoutes({
  proxyListEntries: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/ans-entries',
    summary: 'Entries whose name starts with a prefix, in byte order of the name.',
    query: Type.Object({ ...listQuery, ...quorumQuery }),
    response: EntryPage,
    otherForms: certifiedForms,
    errors: [...certifiedErrors, 'INVALID_PAGE_TOKEN'],
    cost: pageCost,
  },
  proxyGetEntryByName: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/ans-entries/by-name/{name}',
    summary: 'The live entry of a name.',
    params: Type.Object({ name: LookupName }),
    response: EntryAnswer,
    otherForms: certifiedForms,
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND'],
  },
  proxyGetEntryByParty: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/ans-entries/by-party/{party}',
    summary: 'The entry that stands for a party: its synthetic one, else its lowest live name.',
    params: Type.Object({ party: Party }),
    response: EntryAnswer,
    otherForms: certifiedForms,
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND', 'INVALID_PARTY'],
  },
  proxyListEntriesByParty: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/ans-entries/by-party/{party}/all',
    summary: 'All live entries of a party, in byte order of the name.',
    params: Type.Object({ party: Party }),
    query: Type.Object({ ...listByPartyQuery, ...quorumQuery }),
    response: EntryPage,
    otherForms: certifiedForms,
    errors: [...certifiedErrors, 'INVALID_PARTY', 'INVALID_PAGE_TOKEN'],
    cost: pageCost,
  },
  proxyLookupEntries: {
    ...proxied,
    method: 'POST',
    path: '/v0/scan-proxy/ans-entries/batch',
    summary: 'Up to 256 lookups, answered in their order at one offset.',
    body: Type.Object(batchMembers),
    acceptsTextPlain: true,
    response: BatchAnswer,
    errors: [...certifiedErrors, 'INVALID_PARTY'],
    cost: batchCost,
    otherForms: certifiedForms,
  },
  proxyListActivities: {
    ...proxied,
    method: 'POST',
    path: '/v0/scan-proxy/activities',
    summary: 'Taps, mints, transfers and offers that came to nothing, in order of their event ids.',
    description:
      ACTIVITY_ORDER +
      'A walk goes on with the event_id of its last row until a page is empty. Each page is read at the newest offset that enough nodes have; none of them skips or repeats a row.\n\n' +
      'The path is a WebSocket as well (GET, no token, no sub-protocol), which tells when to read on: the first frame, within 10 s, is `{}`. ' +
      'Each frame of the server is `{"offset":N}`, at once, whenever the ledger has changed, and every 15 s: a page that is read with `min_offset` N has what came until then. It proves nothing; pages do. An error, in the form of all errors, is the last frame. ' +
      'A frame costs a unit. Of one client address at most 256 such sockets, of all clients 1024.',
    body: ActivitiesRequest,
    acceptsTextPlain: true,
    response: ActivitiesAnswer,
    errors: certifiedErrors,
    cost: activitiesCost,
    otherForms: { [CERTIFIED_MEDIA_TYPE]: CertifiedActivities },
  },
  proxyGetAnsRules: {
    ...proxied,
    otherForms: certifiedForms,
    errors: certifiedErrors,
    method: 'POST',
    path: '/v0/scan-proxy/ans-rules',
    summary: 'The rules of the name service, unless the cached ones are current.',
    body: AnsRulesRequest,
    response: AnsRulesAnswer,
  },
  proxyGetAmuletRules: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/amulet-rules',
    summary: 'The rules of coin as upstream tells them.',
    response: AmuletRulesProxyAnswer,
  },
  proxyGetOpenAndIssuingMiningRounds: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/open-and-issuing-mining-rounds',
    summary: 'The open rounds.',
    response: MiningRoundsProxyAnswer,
  },
  proxyGetDsoPartyId: {
    ...proxied,
    method: 'GET',
    path: '/v0/scan-proxy/dso-party-id',
    summary: 'The operator party.',
    response: DsoPartyIdAnswer,
  },
  proxyGetDso: {
    ...proxied,
    otherForms: certifiedForms,
    errors: certifiedErrors,
    method: 'GET',
    path: '/v0/scan-proxy/dso',
    summary: 'The operator party and its rules, with the first node that agreed.',
    response: DsoAnswer,
  },
  proxyListScans: {
    ...proxied,
    otherForms: certifiedForms,
    errors: certifiedErrors,
    method: 'GET',
    path: '/v0/scan-proxy/scans',
    summary: 'The signed addresses of all scan nodes.',
    response: ScansAnswer,
  },
  proxyGetGenesis: {
    tag: 'scan-proxy',
    auth: 'none',
    method: 'GET',
    path: '/v0/scan-proxy/genesis',
    summary: 'The genesis document, as this validator has it.',
    response: GenesisAnswer,
    errors: [],
    cost: COST_LOOKUP,
  },
  proxyListEvidence: {
    tag: 'scan-proxy',
    auth: 'none',
    method: 'GET',
    path: '/v0/scan-proxy/evidence',
    summary: 'What proves that a node signed two different states at one offset.',
    description:
      'The first and last 16 of each node that this validator has come across; each can be verified offline.',
    response: EvidenceAnswer,
    errors: [],
    cost: COST_LOOKUP,
  },
})

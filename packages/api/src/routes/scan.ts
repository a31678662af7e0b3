/**
 * The scan node: lookups, rules, the network (D-8 to D-16). Public, without authentication. Handlers: `apps/scan/src/handlers`.
 * The scan proxy has the same reads in `scan-proxy.ts`.
 */
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier'
import { Type } from 'typebox'
import { activitiesCost, batchCost, COST_LOOKUP, entryCost, pageCost } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { ACTIVITY_ORDER, ActivitiesAnswer, NodeActivitiesRequest } from '../schemas/activities.ts'
import * as certified from '../schemas/certified.ts'
import * as coinRules from '../schemas/coin-rules.ts'
import * as entries from '../schemas/entries.ts'
import * as m from '../schemas/members.ts'
import * as network from '../schemas/network.ts'
import { LedgerOffset, LookupName, Party, Quorum } from '../schemas/scalars.ts'
import * as upstream from '../schemas/upstream.ts'
import { healthRoutes } from './health.ts'
import { engineRead, SUBMISSION_BYTES_MAX } from './synchronizer.ts'

const pinErrors = [
  'OFFSET_NOT_REACHED',
  'OFFSET_PRUNED',
  'NOT_READY',
  'LOG_REGRESSED',
  'STATE_DIVERGED',
  'DEPENDENCY_UNAVAILABLE',
] as const

const ReadHeaders = Type.Object({
  'x-read-at-offset': m.omittable(LedgerOffset, 'The offset to read at; absent: the newest.'),
})

/** The options of a read with a proof. They are in the URL: a header would cost a browser a preflight. */
const certifiedQuery = {
  signers: m.omittable(Quorum, 'With a proof: how many members signed; absent: weak (f+1).'),
  min_offset: m.omittable(LedgerOffset, 'With a proof: the oldest offset; waits up to a second.'),
}

/** The same in a body; with `text/plain` it needs no preflight. */
const certifiedMembers = {
  signers: m.optional(Quorum, 'With a proof: how many members must have signed.'),
  min_offset: m.optional(LedgerOffset, 'With a proof: read no older offset than this.'),
}

const certifiedErrors = [...pinErrors, 'INVALID_QUORUM', 'NO_CERTIFICATE', 'LOG_FORK'] as const

/** A read at one offset (D-10). */
const pinned = {
  tag: 'network',
  auth: 'none',
  headers: ReadHeaders,
  responseHeaders: ['ledger'],
  errors: pinErrors,
  cost: COST_LOOKUP,
} as const

/** A read with a proof. */
const proven = {
  ...pinned,
  /** Where the caller accepts it; of status 200 also where nothing is found. */
  otherForms: { [CERTIFIED_MEDIA_TYPE]: certified.CertifiedAnswer },
  errors: certifiedErrors,
} as const

const ofProvider = {
  ...pinned,
  params: upstream.providerParams,
  errors: [...pinErrors, 'INVALID_PARTY'],
} as const

const registry = { ...pinned, tag: 'token-registry' } as const

const lookup = { ...proven, tag: 'lookup' } as const

/** The cost of a piece: 1 MiB takes as long as ten lookups. An anonymous client gets 20 per second. */
const COST_PIECE = 10

const SnapshotOffset = m.about(LedgerOffset, 'The offset of a snapshot that the node lists.')

/** A read about the node and its network, not at an offset. */
const nodeRead = { tag: 'network', auth: 'none', errors: [], cost: COST_LOOKUP } as const

export const scanRoutes = defineRoutes({
  ...healthRoutes,
  listEntries: route('GET /v0/ans-entries', lookup, {
    summary: 'Entries whose name starts with a prefix, in byte order of the name.',
    query: Type.Object({ ...entries.listQuery, ...certifiedQuery }),
    response: entries.EntryPage,
    errors: [...certifiedErrors, 'INVALID_PAGE_TOKEN'],
    cost: pageCost,
  }),
  getEntryByName: route('GET /v0/ans-entries/by-name/{name}', lookup, {
    summary: 'The live entry of a name.',
    params: Type.Object({ name: LookupName }),
    query: Type.Object(certifiedQuery),
    response: entries.EntryAnswer,
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND'],
  }),
  getEntryByParty: route('GET /v0/ans-entries/by-party/{party}', lookup, {
    summary: 'The entry that represents a party: its synthetic one, else its lowest live name.',
    params: Type.Object({ party: Party }),
    query: Type.Object(certifiedQuery),
    response: entries.EntryAnswer,
    errors: [...certifiedErrors, 'ENTRY_NOT_FOUND', 'INVALID_PARTY'],
  }),
  listEntriesByParty: route('GET /v0/ans-entries/by-party/{party}/all', lookup, {
    summary: 'All live entries of a party, in byte order of the name.',
    params: Type.Object({ party: Party }),
    query: Type.Object({ ...entries.listByPartyQuery, ...certifiedQuery }),
    response: entries.EntryPage,
    errors: [...certifiedErrors, 'INVALID_PARTY', 'INVALID_PAGE_TOKEN'],
    cost: pageCost,
  }),
  lookupEntries: route('POST /v0/ans-entries/batch', lookup, {
    summary: 'Up to 256 lookups, answered in their order at one offset.',
    headers: Type.Object({}),
    body: Type.Object({
      ...entries.batchMembers,
      at_offset: m.optional(LedgerOffset, 'The offset to read at; absent: the newest.'),
      signers: certifiedMembers.signers,
    }),
    acceptsTextPlain: true,
    response: entries.BatchAnswer,
    errors: [...certifiedErrors, 'INVALID_PARTY'],
    cost: batchCost,
  }),
  listActivities: route('POST /v0/activities', proven, {
    tag: 'activities',
    summary: 'Taps, mints, transfers and ended offers, in order of their event ids.',
    description:
      ACTIVITY_ORDER +
      'A client reads on with the event_id of its last row until a page is empty. If rows are large, a page has fewer than page_size. No page skips or repeats a row, also while new ones arrive. Rows are kept for the retention of the genesis, counted in record time before the offset that is read.',
    body: NodeActivitiesRequest,
    acceptsTextPlain: true,
    response: ActivitiesAnswer,
    otherForms: { [CERTIFIED_MEDIA_TYPE]: certified.CertifiedActivities },
    cost: activitiesCost,
  }),
  getAnsRules: route('POST /v0/ans-rules', proven, {
    summary: 'The rules of the name service, unless the cached ones are current.',
    body: Type.Object({ ...entries.ansRulesMembers, ...certifiedMembers }),
    acceptsTextPlain: true,
    response: entries.AnsRulesAnswer,
  }),
  getAmuletRules: route('POST /v0/amulet-rules', pinned, {
    summary: 'The rules of coin in the form of upstream, unless the cached ones are current.',
    body: coinRules.AmuletRulesRequest,
    response: coinRules.AmuletRulesAnswer,
  }),
  getOpenAndIssuingMiningRounds: route('POST /v0/open-and-issuing-mining-rounds', pinned, {
    summary: 'The open rounds, in full where the caller does not have them.',
    body: coinRules.MiningRoundsRequest,
    response: coinRules.MiningRoundsAnswer,
  }),
  getDsoPartyId: route('GET /v0/dso-party-id', pinned, {
    summary: 'The operator party.',
    response: network.DsoPartyIdAnswer,
  }),
  getDso: route('GET /v0/dso', proven, {
    summary: 'The operator party, its rules, and the answering node.',
    query: Type.Object({
      shared: Type.Optional(m.boolean('Without the answering node: equal on every node.')),
      ...certifiedQuery,
    }),
    response: network.DsoAnswer,
  }),
  listScans: route('GET /v0/scans', proven, {
    summary: 'The signed addresses of all scan nodes.',
    query: Type.Object(certifiedQuery),
    response: network.ScansAnswer,
  }),
  getSpliceInstanceNames: route('GET /v0/splice-instance-names', pinned, {
    summary: 'The names of the network, its coin and its name service, to show to users.',
    response: upstream.InstanceNamesAnswer,
  }),
  getFeatureSupport: route('GET /v0/feature-support', pinned, {
    summary: 'Optional features of the network.',
    response: upstream.FeatureSupportAnswer,
  }),
  listClosedRounds: route('GET /v0/closed-rounds', pinned, {
    summary: 'Closed rounds that wait for their end: none.',
    response: upstream.ClosedRoundsAnswer,
  }),
  listFeaturedApps: route('GET /v0/featured-apps', pinned, {
    summary: 'Rights of featured apps: none.',
    response: upstream.FeaturedAppsAnswer,
  }),
  getFeaturedApp: route('GET /v0/featured-apps/{provider_party_id}', ofProvider, {
    summary: 'The right of a featured app: none.',
    response: upstream.FeaturedAppAnswer,
  }),
  listFeaturedAppsByProvider: route(
    'GET /v0/featured-apps/by-provider/{provider_party_id}',
    ofProvider,
    {
      summary: 'The rights of a provider of featured apps: none.',
      response: upstream.FeaturedAppsAnswer,
    },
  ),
  getFeaturedAppByContractId: route('GET /v0/featured-apps/by-contract-id/{contract_id}', pinned, {
    summary: 'The right of a featured app by its contract: none.',
    params: upstream.featuredContractParams,
    response: upstream.FeaturedAppAnswer,
  }),
  getRegistryInfo: route('GET /registry/metadata/v1/info', registry, {
    summary:
      'The registry of tokens, of the token standard: its administrator, and what it supports.',
    response: upstream.RegistryInfoAnswer,
  }),
  listInstruments: route('GET /registry/metadata/v1/instruments', registry, {
    summary: 'The tokens of the registry: the coin.',
    query: Type.Object(upstream.instrumentsQuery),
    response: upstream.InstrumentsAnswer,
  }),
  getInstrument: route('GET /registry/metadata/v1/instruments/{instrumentId}', registry, {
    summary: 'A token by its id.',
    params: upstream.instrumentParams,
    response: upstream.InstrumentAnswer,
    errors: [...pinErrors, 'INSTRUMENT_NOT_FOUND'],
  }),
  getCertificate: route('GET /v0/certificate', nodeRead, {
    summary: 'The newest certificate that the node has.',
    query: Type.Object(certifiedQuery),
    response: certified.CertificateAnswer,
    errors: certifiedErrors,
  }),
  listStateStatements: route('GET /v0/state-statements', nodeRead, {
    summary: 'Statements of the state that the node signed recently, for other members.',
    description:
      'Waits up to 5 s for a statement after the offset, then answers an empty list. A 65th poll of one address ends the oldest with an empty list. Members and validators make certificates from the statements.',
    query: Type.Object({
      after: m.about(LedgerOffset, 'The newest that the caller has; 0 for all.'),
    }),
    response: certified.StateStatements,
    errors: pinErrors,
  }),
  listProposals: route('GET /v0/proposals', nodeRead, {
    summary: 'Open proposals of super-validators, and the protocol version in force.',
    response: network.ProposalsAnswer,
    errors: ['DEPENDENCY_UNAVAILABLE'],
  }),
  listSnapshots: route('GET /v0/snapshots', nodeRead, {
    summary: 'The snapshots of the state that the node has, the newest first.',
    description:
      'Each with signatures of members, of the statement `quorumscan/snapshot/1` of offset, record time, history hash ' +
      'and content hash. The content hash is the SHA-256 of the manifest. With f + 1 signatures, the snapshot is correct.',
    response: certified.SnapshotsAnswer,
  }),
  getSnapshotManifest: route('GET /v0/snapshots/{offset}/manifest', nodeRead, {
    summary: 'The hashes of the pieces of a snapshot.',
    description: 'u64 length of the content, big-endian, then the SHA-256 of each mebibyte of it.',
    params: Type.Object({ offset: SnapshotOffset }),
    response: 'bytes',
    errors: ['SNAPSHOT_NOT_FOUND'],
    cost: COST_PIECE,
  }),
  getSnapshotPiece: route('GET /v0/snapshots/{offset}/pieces/{index}', nodeRead, {
    summary: 'A mebibyte of the content of a snapshot; the last piece may be shorter.',
    params: Type.Object({
      offset: SnapshotOffset,
      index: m.about(Type.Integer({ minimum: 0, maximum: 65_535 }), 'Its index, from 0.'),
    }),
    response: 'bytes',
    errors: ['SNAPSHOT_NOT_FOUND'],
    cost: COST_PIECE,
  }),
  readEngine: engineRead,
  judgeEntry: route('POST /v0/entry-judgements', nodeRead, {
    summary: 'What a log entry would do as the next one, or did, at the newest state of the node.',
    description:
      'Synchronizers ask it before they admit an entry, and again when it is in the log. Its signature is not verified, and nothing changes.',
    body: 'bytes',
    bodyBytesMax: SUBMISSION_BYTES_MAX,
    response: network.EntryJudgement,
    errors: ['NOT_READY', 'DEPENDENCY_UNAVAILABLE', 'SOFTWARE_OUTDATED'],
    cost: entryCost,
  }),
  getGenesis: route('GET /v0/genesis', nodeRead, {
    summary: 'The genesis document.',
    response: network.GenesisAnswer,
  }),
})

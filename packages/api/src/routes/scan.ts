/** The scan node: lookups, rules, the network (D-8 to D-16). Public, without authentication. */
import type { ErrorCode } from '@quorumscan/errors'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier'
import { Type } from 'typebox'
import { activitiesCost, batchCost, COST_LOOKUP, pageCost } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { ACTIVITY_ORDER, ActivitiesAnswer, NodeActivitiesRequest } from '../schemas/activities.ts'
import * as certified from '../schemas/certified.ts'
import * as coinRules from '../schemas/coin-rules.ts'
import * as entries from '../schemas/entries.ts'
import * as m from '../schemas/members.ts'
import * as network from '../schemas/network.ts'
import { LedgerOffset, LookupName, Party, Quorum } from '../schemas/scalars.ts'
import { healthRoutes } from './health.ts'
import { engineRead } from './synchronizer.ts'

const pinErrors = [
  'OFFSET_NOT_REACHED',
  'OFFSET_PRUNED',
  'NOT_READY',
  'LOG_REGRESSED',
  'STATE_DIVERGED',
  'DEPENDENCY_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const ReadHeaders = Type.Object({
  'x-read-at-offset': m.omittable(LedgerOffset, 'The offset to read at; absent: the newest.'),
})

/** Of a read that is answered with its proof. Like all that decides an answer, in the URL: a preflight costs a browser a round trip. */
const certifiedQuery = {
  signers: m.omittable(
    Quorum,
    'With a proof: how many members must have signed; absent: weak (f+1).',
  ),
  min_offset: m.omittable(
    LedgerOffset,
    'With a proof: read no older offset than this; waits up to a second for it.',
  ),
}

/** The same in a body, which `text/plain` keeps from needing a preflight. */
const certifiedMembers = {
  signers: m.optional(Quorum, 'With a proof: how many members must have signed.'),
  min_offset: m.optional(LedgerOffset, 'With a proof: read no older offset than this.'),
}

const certifiedErrors = [
  ...pinErrors,
  'INVALID_QUORUM',
  'NO_CERTIFICATE',
  'LOG_FORK',
] as const satisfies readonly ErrorCode[]

/** A read at one offset (D-10). */
const pinned = {
  tag: 'network',
  auth: 'none',
  headers: ReadHeaders,
  responseHeaders: ['ledger'],
  errors: pinErrors,
  cost: COST_LOOKUP,
} as const

/** A read that is answered with its proof as well. */
const proven = {
  ...pinned,
  /** Where the caller accepts it; of status 200 also where nothing is found. */
  otherForms: { [CERTIFIED_MEDIA_TYPE]: certified.CertifiedAnswer },
  errors: certifiedErrors,
} as const

const lookup = { ...proven, tag: 'lookup' } as const

/** A mebibyte read, hashed and sent takes as long as some ten lookups: a stranger is given 20 a second. */
const COST_PIECE = 10

const SnapshotOffset = m.about(LedgerOffset, 'Of a snapshot that the node lists.')

/** What a node says of itself and its network, at no offset of the caller's. */
const told = { tag: 'network', auth: 'none', errors: [], cost: COST_LOOKUP } as const

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
    summary: 'The entry that stands for a party: its synthetic one, else its lowest live name.',
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
    summary: 'Taps, mints, transfers and offers that came to nothing, in order of their event ids.',
    description:
      ACTIVITY_ORDER +
      'A walk goes on with the event_id of its last row until a page is empty: where rows are large, a page has fewer than page_size. It never skips or repeats a row, also while new ones arrive. Rows are kept for the retention of the genesis, counted in record time before the offset that is read.',
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
    summary: 'The rules of coin as upstream tells them, unless the cached ones are current.',
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
      shared: Type.Optional(m.boolean('Leave out who answers: equal on every node.')),
      ...certifiedQuery,
    }),
    response: network.DsoAnswer,
  }),
  listScans: route('GET /v0/scans', proven, {
    summary: 'The signed addresses of all scan nodes.',
    query: Type.Object(certifiedQuery),
    response: network.ScansAnswer,
  }),
  getCertificate: route('GET /v0/certificate', told, {
    summary: 'The newest certificate that the node has.',
    query: Type.Object(certifiedQuery),
    response: certified.CertificateAnswer,
    errors: certifiedErrors,
  }),
  listStateStatements: route('GET /v0/state-statements', told, {
    summary: 'What the node signed of the state of late, for other members.',
    description:
      'Waits up to 5 s for a statement after the offset; none by then is an empty list, as is the answer to the oldest poll of an address that begins a 65th. Members, and validators, put certificates together from them.',
    query: Type.Object({
      after: m.about(LedgerOffset, 'The newest that the caller has; 0 for all that are kept.'),
    }),
    response: certified.StateStatements,
    errors: pinErrors,
  }),
  listProposals: route('GET /v0/proposals', told, {
    summary:
      'What super-validators have proposed and not decided together, and which protocol holds.',
    response: network.ProposalsAnswer,
    errors: ['DEPENDENCY_UNAVAILABLE'],
  }),
  listSnapshots: route('GET /v0/snapshots', told, {
    summary: 'The snapshots of the state that the node has, the newest first.',
    description:
      'Each with what members signed of it: the statement `quorumscan/snapshot/1` of offset, record time, history ' +
      'hash and content hash. The content hash is the SHA-256 of the manifest. One that f + 1 members signed is ' +
      'what the log made, whoever its pieces come from.',
    response: certified.SnapshotsAnswer,
  }),
  getSnapshotManifest: route('GET /v0/snapshots/{offset}/manifest', told, {
    summary: 'What the content of a snapshot hashes to, piece by piece.',
    description: 'u64 length of the content, big-endian, then the SHA-256 of each mebibyte of it.',
    params: Type.Object({ offset: SnapshotOffset }),
    response: 'bytes',
    errors: ['SNAPSHOT_NOT_FOUND'],
    cost: COST_PIECE,
  }),
  getSnapshotPiece: route('GET /v0/snapshots/{offset}/pieces/{index}', told, {
    summary: 'A mebibyte of the content of a snapshot; the last piece may be shorter.',
    params: Type.Object({
      offset: SnapshotOffset,
      index: m.about(
        Type.Integer({ minimum: 0, maximum: 65_535 }),
        'Its place in the manifest, from 0.',
      ),
    }),
    response: 'bytes',
    errors: ['SNAPSHOT_NOT_FOUND'],
    cost: COST_PIECE,
  }),
  readEngine: engineRead,
  getGenesis: route('GET /v0/genesis', told, {
    summary: 'The genesis document.',
    response: network.GenesisAnswer,
  }),
})

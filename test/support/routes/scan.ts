/** Cases of the scan node. */

import { CERTIFIED_MEDIA_TYPE, type scanRoutes } from '@quorumscan/api'
import { membersOf } from '@quorumscan/verifier'
import { type Build, broken, type CasesOf, type Cause, cannot, type Input } from './case.ts'
import { healthCases } from './health.ts'

const FAR_OFFSET = Number.MAX_SAFE_INTEGER
const OTHER_PARTY = `unknown::1220${'0'.repeat(64)}`
const acceptCertified = { accept: CERTIFIED_MEDIA_TYPE }

/** The same request, read at an offset. */
const atOffset =
  (build: Build, offset: number): Build =>
  async (world) => ({ ...(await build(world)), headers: { 'x-read-at-offset': `${offset}` } })

const belowHorizon =
  (build: Build): Build =>
  async (world) => ({ ...(await atOffset(build, 1)(world)), url: await world.prunedNode() })

function pinErrors(build: Build) {
  const {
    LOG_FORK,
    ORDERING_HALTED,
    LOG_FULL,
    CLOCK_OFF,
    CERTIFICATE_EXPIRED,
    USERS_LOST,
    SOFTWARE_OUTDATED,
    ...rest
  } = broken
  return {
    ...rest,
    OFFSET_NOT_REACHED: atOffset(build, FAR_OFFSET),
    OFFSET_PRUNED: belowHorizon(build),
  } satisfies Record<string, Cause>
}

/** The same request for a certified answer, with bounds. */
const withBounds =
  (build: Build, bounds: Readonly<Record<string, string | number>>, isBody: boolean): Build =>
  async (world) => {
    const request: Input = await build(world)
    return isBody
      ? { ...request, headers: acceptCertified, body: { ...membersOf(request.body), ...bounds } }
      : { ...request, headers: acceptCertified, query: { ...request.query, ...bounds } }
  }

function certifiedErrors(build: Build, { isBody = false } = {}) {
  return {
    ...pinErrors(build),
    LOG_FORK: broken.LOG_FORK,
    INVALID_QUORUM: withBounds(build, { signers: '99' }, isBody),
    NO_CERTIFICATE: withBounds(build, { min_offset: FAR_OFFSET }, isBody),
  } satisfies Record<string, Cause>
}

const byName: Build = ({ name }) => ({ params: { name } })
const byParty: Build = ({ user }) => ({ params: { party: user.party } })
const page: Build = () => ({ query: { page_size: 5 } })
const partyPage: Build = ({ user }) => ({ params: { party: user.party }, query: { page_size: 5 } })
const batch: Build = ({ name }) => ({ body: { lookups: [{ name }] } })
const activities: Build = () => ({ body: { page_size: 5 } })
const emptyBody: Build = () => ({ body: {} })
const rounds: Build = () => ({
  body: { cached_open_mining_round_contract_ids: [], cached_issuing_round_contract_ids: [] },
})
const plain: Build = () => ({})

export const badToken =
  (build: Build): Build =>
  async (world) => {
    const request = await build(world)
    return { ...request, query: { ...request.query, page_token: 'bm9uZQ' } }
  }
export const invalidParty: Build = () => ({ params: { party: 'alice' }, query: { page_size: 5 } })
export const unknownName: Build = (world) => ({ params: { name: world.newName() } })
export const unknownParty: Build = () => ({ params: { party: OTHER_PARTY } })

const NO_SNAPSHOT = cannot(
  'the first snapshot is at offset 1 024, or in the next hour',
  'apps/scan/src/snapshots.integration.test.ts',
)

const engineReason = 'only engines of ordering members read it from each other'
/** One synchronizer orders the network of these tests. */
export const engineCase = {
  success: cannot(engineReason, 'packages/cometbft/src/state-sync/engine-read.test.ts'),
  errors: {
    ROUTE_NOT_FOUND: () => ({ body: Uint8Array.of(1) }),
    PERMISSION_DENIED: cannot(engineReason),
    NOT_READY: broken.NOT_READY,
    DEPENDENCY_UNAVAILABLE: broken.DEPENDENCY_UNAVAILABLE,
  },
  added: {
    INVALID_ARGUMENT: cannot(engineReason),
    BODY_TOO_LARGE: () => ({ body: new Uint8Array(5_000) }),
  },
} as const

export const provider: Build = ({ user }) => ({ params: { provider_party_id: user.party } })
export const invalidProvider: Build = () => ({ params: { provider_party_id: 'alice' } })
export const instrument: Build = () => ({ params: { instrumentId: 'Coin' } })
export const unknownInstrument: Build = () => ({ params: { instrumentId: 'Amulet' } })
const ofProvider = {
  success: provider,
  errors: { ...pinErrors(provider), INVALID_PARTY: invalidProvider },
}
const ofContract: Build = () => ({ params: { contract_id: `00${'0'.repeat(64)}` } })

export const scanCases = {
  ...healthCases,
  listEntries: {
    success: page,
    errors: { ...certifiedErrors(page), INVALID_PAGE_TOKEN: badToken(page) },
  },
  getEntryByName: {
    success: byName,
    errors: { ...certifiedErrors(byName), ENTRY_NOT_FOUND: unknownName },
  },
  getEntryByParty: {
    success: byParty,
    errors: {
      ...certifiedErrors(byParty),
      ENTRY_NOT_FOUND: unknownParty,
      INVALID_PARTY: invalidParty,
    },
  },
  listEntriesByParty: {
    success: partyPage,
    errors: {
      ...certifiedErrors(partyPage),
      INVALID_PARTY: invalidParty,
      INVALID_PAGE_TOKEN: badToken(partyPage),
    },
  },
  lookupEntries: {
    success: batch,
    errors: {
      ...certifiedErrors(batch, { isBody: true }),
      OFFSET_NOT_REACHED: ({ name }) => ({
        body: { lookups: [{ name }], at_offset: FAR_OFFSET },
      }),
      OFFSET_PRUNED: async (world) => ({
        body: { lookups: [{ name: world.name }], at_offset: 1 },
        url: await world.prunedNode(),
      }),
      INVALID_PARTY: () => ({ body: { lookups: [{ party: 'alice' }] } }),
    },
  },
  listActivities: {
    success: activities,
    errors: certifiedErrors(activities, { isBody: true }),
  },
  getAnsRules: {
    success: emptyBody,
    errors: certifiedErrors(emptyBody, { isBody: true }),
  },
  getAmuletRules: { success: emptyBody, errors: pinErrors(emptyBody) },
  getOpenAndIssuingMiningRounds: { success: rounds, errors: pinErrors(rounds) },
  getDsoPartyId: { success: plain, errors: pinErrors(plain) },
  getDso: { success: plain, errors: certifiedErrors(plain) },
  listScans: { success: plain, errors: certifiedErrors(plain) },
  getSpliceInstanceNames: { success: plain, errors: pinErrors(plain) },
  getFeatureSupport: { success: plain, errors: pinErrors(plain) },
  listClosedRounds: { success: plain, errors: pinErrors(plain) },
  listFeaturedApps: { success: plain, errors: pinErrors(plain) },
  getFeaturedApp: ofProvider,
  listFeaturedAppsByProvider: ofProvider,
  getFeaturedAppByContractId: { success: ofContract, errors: pinErrors(ofContract) },
  getRegistryInfo: { success: plain, errors: pinErrors(plain) },
  listInstruments: { success: plain, errors: pinErrors(plain) },
  getInstrument: {
    success: instrument,
    errors: { ...pinErrors(instrument), INSTRUMENT_NOT_FOUND: unknownInstrument },
  },
  getCertificate: {
    success: plain,
    errors: {
      ...certifiedErrors(plain),
      OFFSET_NOT_REACHED: cannot('the caller cannot set the offset'),
      OFFSET_PRUNED: cannot('the caller cannot set the offset'),
    },
  },
  listStateStatements: {
    success: () => ({ query: { after: 0 } }),
    errors: {
      ...pinErrors(plain),
      OFFSET_NOT_REACHED: cannot('the caller cannot set the offset'),
      OFFSET_PRUNED: cannot('the caller cannot set the offset'),
    },
  },
  listProposals: {
    success: plain,
    errors: { DEPENDENCY_UNAVAILABLE: broken.DEPENDENCY_UNAVAILABLE },
  },
  listSnapshots: { success: plain, errors: {} },
  getSnapshotManifest: {
    success: NO_SNAPSHOT,
    errors: { SNAPSHOT_NOT_FOUND: () => ({ params: { offset: 1 } }) },
  },
  getSnapshotPiece: {
    success: NO_SNAPSHOT,
    errors: { SNAPSHOT_NOT_FOUND: () => ({ params: { offset: 1, index: 0 } }) },
  },
  readEngine: engineCase,
  judgeEntry: {
    success: ({ entry }) => ({ body: entry() }),
    errors: {
      NOT_READY: broken.NOT_READY,
      DEPENDENCY_UNAVAILABLE: broken.DEPENDENCY_UNAVAILABLE,
      SOFTWARE_OUTDATED: broken.SOFTWARE_OUTDATED,
    },
    added: { INVALID_ARGUMENT: () => ({ body: Uint8Array.of(1, 2, 3) }) },
  },
  getGenesis: { success: plain, errors: {} },
} satisfies CasesOf<typeof scanRoutes>

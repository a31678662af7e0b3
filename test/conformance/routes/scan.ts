/** Cases of the scan node. */
import { CERTIFIED_MEDIA_TYPE, type scanRoutes } from '@quorumscan/api'
import { type Ask, type Asked, broken, type CasesOf, cannot, type Way } from './case.ts'
import { healthCases } from './health.ts'

const FAR_OFFSET = Number.MAX_SAFE_INTEGER
const OTHER_PARTY = `unknown::1220${'0'.repeat(64)}`
const proven = { accept: CERTIFIED_MEDIA_TYPE }

/** The same request, read at an offset. */
const at =
  (ask: Ask, offset: number): Ask =>
  async (world) => ({ ...(await ask(world)), headers: { 'x-read-at-offset': `${offset}` } })

const belowHorizon =
  (ask: Ask): Ask =>
  async (world) => ({ ...(await at(ask, 1)(world)), url: await world.prunedNode() })

function pinErrors(ask: Ask) {
  const { LOG_FORK, ORDERING_HALTED, LOG_FULL, CLOCK_OFF, USERS_LOST, SOFTWARE_OUTDATED, ...rest } =
    broken
  return {
    ...rest,
    OFFSET_NOT_REACHED: at(ask, FAR_OFFSET),
    OFFSET_PRUNED: belowHorizon(ask),
  } satisfies Record<string, Way>
}

/** The same request for a proof, with bounds that the proof must meet. */
const provenWith =
  (ask: Ask, bounds: Readonly<Record<string, string | number>>, isBody: boolean): Ask =>
  async (world) => {
    const asked: Asked = await ask(world)
    return isBody
      ? { ...asked, headers: proven, body: { ...Object(asked.body), ...bounds } }
      : { ...asked, headers: proven, query: { ...asked.query, ...bounds } }
  }

function certifiedErrors(ask: Ask, { isBody = false } = {}) {
  return {
    ...pinErrors(ask),
    LOG_FORK: broken.LOG_FORK,
    INVALID_QUORUM: provenWith(ask, { signers: '99' }, isBody),
    NO_CERTIFICATE: provenWith(ask, { min_offset: FAR_OFFSET }, isBody),
  } satisfies Record<string, Way>
}

const byName: Ask = ({ name }) => ({ params: { name } })
const byParty: Ask = ({ user }) => ({ params: { party: user.party } })
const page: Ask = () => ({ query: { page_size: 5 } })
const pageOfParty: Ask = ({ user }) => ({ params: { party: user.party }, query: { page_size: 5 } })
const batch: Ask = ({ name }) => ({ body: { lookups: [{ name }] } })
const activities: Ask = () => ({ body: { page_size: 5 } })
const emptyBody: Ask = () => ({ body: {} })
const rounds: Ask = () => ({
  body: { cached_open_mining_round_contract_ids: [], cached_issuing_round_contract_ids: [] },
})
const plain: Ask = () => ({})

export const badToken =
  (ask: Ask): Ask =>
  async (world) => {
    const asked = await ask(world)
    return { ...asked, query: { ...asked.query, page_token: 'bm9uZQ' } }
  }
export const invalidParty: Ask = () => ({ params: { party: 'alice' }, query: { page_size: 5 } })
export const unknownName: Ask = (world) => ({ params: { name: world.newName() } })
export const unknownParty: Ask = () => ({ params: { party: OTHER_PARTY } })

const NO_SNAPSHOT = cannot(
  'the first snapshot is that of offset 1 024, or of the next hour',
  'apps/scan/src/snapshots.integration.test.ts',
)

const engineReason = 'engines read of each other where members order together'
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
    success: pageOfParty,
    errors: {
      ...certifiedErrors(pageOfParty),
      INVALID_PARTY: invalidParty,
      INVALID_PAGE_TOKEN: badToken(pageOfParty),
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
  getCertificate: {
    success: plain,
    errors: {
      ...certifiedErrors(plain),
      OFFSET_NOT_REACHED: cannot('it is read at no offset of the caller'),
      OFFSET_PRUNED: cannot('it is read at no offset of the caller'),
    },
  },
  listStateStatements: {
    success: () => ({ query: { after: 0 } }),
    errors: {
      ...pinErrors(plain),
      OFFSET_NOT_REACHED: cannot('it is read at no offset of the caller'),
      OFFSET_PRUNED: cannot('it is read at no offset of the caller'),
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
  getGenesis: { success: plain, errors: {} },
} satisfies CasesOf<typeof scanRoutes>

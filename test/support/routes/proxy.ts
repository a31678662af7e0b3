/** Cases of the scan proxy of the validator. */
import type { validatorRoutes } from '@quorumscan/api'
import { type Build, type CasesOf, type Cause, cannot } from './case.ts'
import {
  badToken,
  instrument,
  invalidParty,
  invalidProvider,
  provider,
  unknownInstrument,
  unknownName,
  unknownParty,
} from './scan.ts'

const OUTCOME_TEST = 'packages/scan-proxy/src/outcome.test.ts'

const withHeader =
  (build: Build, headers: Readonly<Record<string, string>>): Build =>
  async (world) => ({ ...(await build(world)), headers })

function quorumErrors(build: Build) {
  return {
    INVALID_QUORUM: withHeader(build, { 'x-quorum': '99' }),
    CONSENSUS_LAGGING: withHeader(build, { 'x-min-offset': String(Number.MAX_SAFE_INTEGER) }),
    CONSENSUS_DISPUTED: cannot('nodes that contradict each other', OUTCOME_TEST),
    NOT_ENOUGH_NODES: cannot('nodes that are down', OUTCOME_TEST),
  } satisfies Record<string, Cause>
}

const certifiedErrors = (build: Build) => ({
  ...quorumErrors(build),
  OFFSET_PRUNED: cannot(
    'a list that is older than the states that nodes keep',
    'packages/scan-proxy/src/own-history.test.ts',
  ),
})

const page: Build = () => ({ query: { page_size: 5 } })
const byName: Build = ({ name }) => ({ params: { name } })
const byParty: Build = ({ user }) => ({ params: { party: user.party } })
const partyPage: Build = ({ user }) => ({ params: { party: user.party }, query: { page_size: 5 } })
const batch: Build = ({ name }) => ({ body: { lookups: [{ name }] } })
const resolved: Build = ({ name }) => ({ query: { name, network: 'localnet' } })
const unresolved: Build = () => ({ query: { name: 'unknown.unverified.ns', network: 'localnet' } })
const reversed: Build = ({ user }) => ({ query: { party: user.party, network: 'localnet' } })
const noParty: Build = () => ({ query: { party: 'alice', network: 'localnet' } })
const activities: Build = () => ({ body: { page_size: 5 } })
const emptyBody: Build = () => ({ body: {} })
const plain: Build = () => ({})

type Table = typeof validatorRoutes
type Proxied = { [Id in keyof Table as Id extends `proxy${string}` ? Id : never]: Table[Id] }

export const proxyCases = {
  proxyListEntries: {
    success: page,
    errors: { ...certifiedErrors(page), INVALID_PAGE_TOKEN: badToken(page) },
  },
  proxyGetEntryByName: {
    success: byName,
    errors: { ...certifiedErrors(byName), ENTRY_NOT_FOUND: unknownName },
  },
  proxyGetEntryByParty: {
    success: byParty,
    errors: {
      ...certifiedErrors(byParty),
      ENTRY_NOT_FOUND: unknownParty,
      INVALID_PARTY: invalidParty,
    },
  },
  proxyListEntriesByParty: {
    success: partyPage,
    errors: {
      ...certifiedErrors(partyPage),
      INVALID_PARTY: invalidParty,
      INVALID_PAGE_TOKEN: badToken(partyPage),
    },
  },
  proxyLookupEntries: {
    success: batch,
    errors: {
      ...certifiedErrors(batch),
      INVALID_PARTY: () => ({ body: { lookups: [{ party: 'alice' }] } }),
    },
  },
  proxyResolve: {
    success: resolved,
    errors: { ...certifiedErrors(resolved), ENTRY_NOT_FOUND: unresolved },
  },
  proxyReverseResolve: {
    success: reversed,
    errors: { ...certifiedErrors(reversed), INVALID_PARTY: noParty },
  },
  proxyListActivities: { success: activities, errors: certifiedErrors(activities) },
  proxyGetAnsRules: { success: emptyBody, errors: certifiedErrors(emptyBody) },
  proxyGetAmuletRules: { success: plain, errors: quorumErrors(plain) },
  proxyGetOpenAndIssuingMiningRounds: { success: plain, errors: quorumErrors(plain) },
  proxyGetDsoPartyId: { success: plain, errors: quorumErrors(plain) },
  proxyGetDso: { success: plain, errors: certifiedErrors(plain) },
  proxyListScans: { success: plain, errors: certifiedErrors(plain) },
  proxyGetSpliceInstanceNames: { success: plain, errors: quorumErrors(plain) },
  proxyGetFeaturedApp: {
    success: provider,
    errors: { ...quorumErrors(provider), INVALID_PARTY: invalidProvider },
  },
  proxyGetRegistryInfo: { success: plain, errors: quorumErrors(plain) },
  proxyListInstruments: { success: plain, errors: quorumErrors(plain) },
  proxyGetInstrument: {
    success: instrument,
    errors: { ...quorumErrors(instrument), INSTRUMENT_NOT_FOUND: unknownInstrument },
  },
  proxyGetGenesis: { success: plain, errors: {} },
  proxyListEvidence: { success: plain, errors: {} },
} satisfies CasesOf<Proxied>

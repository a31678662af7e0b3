/** Cases of the scan proxy of the validator. */
import type { validatorRoutes } from '@quorumscan/api'
import { type Ask, type CasesOf, cannot, type Way } from './case.ts'
import { badToken, invalidParty, unknownName, unknownParty } from './scan.ts'

const OUTCOME_TEST = 'packages/scan-proxy/src/outcome.test.ts'

const withHeader =
  (ask: Ask, headers: Readonly<Record<string, string>>): Ask =>
  async (world) => ({ ...(await ask(world)), headers })

function quorumErrors(ask: Ask) {
  return {
    INVALID_QUORUM: withHeader(ask, { 'x-quorum': '99' }),
    CONSENSUS_LAGGING: withHeader(ask, { 'x-min-offset': String(Number.MAX_SAFE_INTEGER) }),
    CONSENSUS_DISPUTED: cannot('nodes that contradict each other', OUTCOME_TEST),
    NOT_ENOUGH_NODES: cannot('nodes that are dead', OUTCOME_TEST),
  } satisfies Record<string, Way>
}

const certifiedErrors = (ask: Ask) => ({
  ...quorumErrors(ask),
  OFFSET_PRUNED: cannot(
    'a walk that is older than what nodes keep',
    'packages/scan-proxy/src/own-history.test.ts',
  ),
})

const page: Ask = () => ({ query: { page_size: 5 } })
const byName: Ask = ({ name }) => ({ params: { name } })
const byParty: Ask = ({ user }) => ({ params: { party: user.party } })
const pageOfParty: Ask = ({ user }) => ({ params: { party: user.party }, query: { page_size: 5 } })
const batch: Ask = ({ name }) => ({ body: { lookups: [{ name }] } })
const activities: Ask = () => ({ body: { page_size: 5 } })
const emptyBody: Ask = () => ({ body: {} })
const plain: Ask = () => ({})

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
    success: pageOfParty,
    errors: {
      ...certifiedErrors(pageOfParty),
      INVALID_PARTY: invalidParty,
      INVALID_PAGE_TOKEN: badToken(pageOfParty),
    },
  },
  proxyLookupEntries: {
    success: batch,
    errors: {
      ...certifiedErrors(batch),
      INVALID_PARTY: () => ({ body: { lookups: [{ party: 'alice' }] } }),
    },
  },
  proxyListActivities: { success: activities, errors: certifiedErrors(activities) },
  proxyGetAnsRules: { success: emptyBody, errors: certifiedErrors(emptyBody) },
  proxyGetAmuletRules: { success: plain, errors: quorumErrors(plain) },
  proxyGetOpenAndIssuingMiningRounds: { success: plain, errors: quorumErrors(plain) },
  proxyGetDsoPartyId: { success: plain, errors: quorumErrors(plain) },
  proxyGetDso: { success: plain, errors: certifiedErrors(plain) },
  proxyListScans: { success: plain, errors: certifiedErrors(plain) },
  proxyGetGenesis: { success: plain, errors: {} },
  proxyListEvidence: { success: plain, errors: {} },
} satisfies CasesOf<Proxied>

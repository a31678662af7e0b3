/** Cases of the ledger interface. Its routes declare statuses; the codes are those of upstream. */
import type { ledgerRoutes } from '@quorumscan/api'
import { packages } from '@quorumscan/ledger'
import { send } from '@quorumscan/testkit'
import { type Build, type Case, cannot } from './case.ts'
import type { World } from './world.ts'

type StatusOf<Route> = Route extends { readonly errorStatuses: readonly (infer S extends number)[] }
  ? S
  : never

/** A case for each route, with each status that the route declares in addition to the common ones. */
type LedgerCasesOf<Table> = { readonly [Id in keyof Table]: Case<StatusOf<Table[Id]>> }

const TEMPLATE = '#quorumscan-coin:Coin.Rules:CoinRules'
const NO_TEMPLATE = '#no-such-package:Coin:Coin'
const UNKNOWN_ID = `00${'0'.repeat(64)}`
const FEW = { limit: 5, stream_idle_timeout_ms: 100 }

const filtersOf = (party: string, templateId?: string) => ({
  [party]:
    templateId === undefined
      ? {}
      : { cumulative: [{ identifierFilter: { TemplateFilter: { value: { templateId } } } }] },
})
const eventFormatOf = ({ user }: World, templateId?: string) => ({
  filtersByParty: filtersOf(user.party, templateId),
  verbose: false,
})
const transactionFormatOf = (world: World, templateId?: string) => ({
  eventFormat: eventFormatOf(world, templateId),
  transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
})
const updateFormatOf = (world: World, templateId?: string) => ({
  includeTransactions: transactionFormatOf(world, templateId),
})

/** A tap, which succeeds unless `more` changes it. */
const commandsOf = ({ user, coinRules, fresh }: World, more: object = {}) => ({
  commands: [
    {
      ExerciseCommand: {
        templateId: TEMPLATE,
        contractId: coinRules.contract_id,
        choice: 'CoinRules_DevNet_Tap',
        choiceArgument: { receiver: user.party, amount: '1.0' },
      },
    },
  ],
  commandId: fresh(),
  actAs: [user.party],
  disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
  ...more,
})

const UNKNOWN_PARTY = `unknown::1220${'0'.repeat(64)}`

async function post(world: World, path: string, body: object) {
  const headers = { authorization: `Bearer ${world.user.token}` }
  const answer = await send(`${world.urls.ledger}${path}`, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return answer.body
}

const submitTap = (world: World): Promise<{ updateId: string; completionOffset: number }> =>
  post(world, '/v2/commands/submit-and-wait', commandsOf(world))

/** Makes an update of the user, and returns the range of offsets with only that update. */
async function range(world: World) {
  const { completionOffset } = await submitTap(world)
  return { beginExclusive: completionOffset - 1, endInclusive: completionOffset }
}

const updates =
  (templateId?: string): Build =>
  async (world) => ({
    query: FEW,
    body: { ...(await range(world)), updateFormat: updateFormatOf(world, templateId) },
  })
const trees =
  (templateId?: string): Build =>
  async (world) => ({
    query: FEW,
    body: {
      ...(await range(world)),
      filter: { filtersByParty: filtersOf(world.user.party, templateId) },
      verbose: false,
    },
  })
const expired = cannot(
  'a token that expires during the request',
  'apps/validator/src/ledger-api/updates.integration.test.ts',
)
const lists = (of: (templateId?: string) => Build) => ({
  success: of(),
  errors: { 404: of(NO_TEMPLATE), 409: expired },
})
const contractsAt =
  (templateId?: string): Build =>
  async (world) => {
    const { endInclusive } = await range(world)
    const eventFormat = eventFormatOf(world, templateId)
    return { query: FEW, body: { activeAtOffset: endInclusive, eventFormat } }
  }
const contractsPage =
  (templateId?: string): Build =>
  (world) => ({ body: { eventFormat: eventFormatOf(world, templateId), maxPageSize: 5 } })
const pages = {
  success: contractsPage(),
  errors: { 404: contractsPage(NO_TEMPLATE) },
}

const known: Build = ({ user }) => ({ params: { id: user.id } })
const forUnknownUser =
  (more: object = {}): Build =>
  ({ fresh, admin }) => ({ params: { id: fresh() }, token: admin, ...more })
const rights = (party: string) => ({
  body: { rights: [{ kind: { CanReadAs: { value: { party } } } }] },
})
const userUpdate = {
  body: { user: { isDeactivated: false }, updateMask: { paths: ['is_deactivated'] } },
}
const provider = { body: { sourceIdentityProviderId: '', targetIdentityProviderId: '' } }
const partyUpdate = (party: string): Awaited<ReturnType<Build>> => ({
  params: { party },
  body: {
    partyDetails: { party, localMetadata: { annotations: { a: 'b' } } },
    updateMask: { paths: ['local_metadata'] },
  },
})
const plain = { success: (() => ({})) satisfies Build, errors: {} }

/** The package of coin. */
const PACKAGE = packages.find(({ name }) => name === 'quorumscan-coin')?.id ?? ''

const NO_CONTRACT = {
  commands: [
    {
      ExerciseCommand: {
        templateId: TEMPLATE,
        contractId: UNKNOWN_ID,
        choice: 'CoinRules_DevNet_Tap',
        choiceArgument: { receiver: UNKNOWN_PARTY, amount: '1.0' },
      },
    },
  ],
  disclosedContracts: [],
}

const completions = {
  success: (async (world) => ({
    query: FEW,
    body: {
      parties: [world.user.party],
      beginExclusive: (await range(world)).beginExclusive,
    },
  })) satisfies Build,
  errors: { 409: expired },
}

export const ledgerCases = {
  getUpdates: lists(updates),
  getUpdateFlats: lists(updates),
  getUpdateTrees: {
    success: trees(),
    errors: { 404: cannot('the older form names no template'), 409: expired },
  },
  getUpdatesPage: {
    success: async (world) => {
      const { beginExclusive, endInclusive } = await range(world)
      return {
        body: {
          beginOffsetExclusive: beginExclusive,
          endOffsetInclusive: endInclusive,
          updateFormat: updateFormatOf(world),
        },
      }
    },
    errors: {
      404: (world) => ({ body: { updateFormat: updateFormatOf(world, NO_TEMPLATE) } }),
      409: expired,
    },
  },
  getUpdateById: {
    success: async (world) => ({
      body: { updateId: (await submitTap(world)).updateId, updateFormat: updateFormatOf(world) },
    }),
    errors: {
      404: (world) => ({
        body: { updateId: `1220${'0'.repeat(64)}`, updateFormat: updateFormatOf(world) },
      }),
    },
  },
  getUpdateByOffset: {
    success: async (world) => ({
      body: {
        offset: (await submitTap(world)).completionOffset,
        updateFormat: updateFormatOf(world),
      },
    }),
    errors: {
      404: async (world) => ({
        body: {
          offset: (await submitTap(world)).completionOffset,
          updateFormat: updateFormatOf(world, NO_TEMPLATE),
        },
      }),
    },
  },
  getActiveContracts: lists(contractsAt),
  getActiveContractsPage: pages,
  postActiveContractsPage: pages,
  getEventsByContractId: {
    success: async (world) => ({
      body: { contractId: await world.coin(), eventFormat: eventFormatOf(world) },
    }),
    errors: {
      404: (world) => ({ body: { contractId: UNKNOWN_ID, eventFormat: eventFormatOf(world) } }),
    },
  },
  getTransactionById: {
    success: async (world) => ({
      body: {
        updateId: (await submitTap(world)).updateId,
        transactionFormat: transactionFormatOf(world),
      },
    }),
    errors: {
      404: (world) => ({
        body: { updateId: `1220${'0'.repeat(64)}`, transactionFormat: transactionFormatOf(world) },
      }),
    },
  },
  getTransactionByOffset: {
    success: async (world) => ({
      body: {
        offset: (await submitTap(world)).completionOffset,
        transactionFormat: transactionFormatOf(world),
      },
    }),
    errors: {
      404: async (world) => ({
        body: {
          offset: (await submitTap(world)).completionOffset,
          transactionFormat: transactionFormatOf(world, NO_TEMPLATE),
        },
      }),
    },
  },
  getTransactionTreeById: {
    success: async (world) => ({
      params: { updateId: (await submitTap(world)).updateId },
      query: { parties: world.user.party },
    }),
    errors: {
      404: (world) => ({
        params: { updateId: `1220${'0'.repeat(64)}` },
        query: { parties: world.user.party },
      }),
    },
  },
  getTransactionTreeByOffset: {
    success: async (world) => ({
      params: { offset: (await submitTap(world)).completionOffset },
      query: { parties: world.user.party },
    }),
    errors: {
      404: (world) => ({
        params: { offset: Number.MAX_SAFE_INTEGER },
        query: { parties: world.user.party },
      }),
    },
  },
  getContractById: {
    success: async (world) => ({
      body: { contractId: await world.coin(), queryingParties: [world.user.party] },
    }),
    errors: {
      404: (world) => ({ body: { contractId: UNKNOWN_ID, queryingParties: [world.user.party] } }),
    },
  },
  getConnectedSynchronizers: plain,
  getLatestPrunedOffsets: plain,
  pruneParticipant: { success: () => ({ body: { pruneUpTo: 1 } }), errors: {} },
  getLedgerEnd: plain,
  submitAsync: {
    success: (world) => ({ body: commandsOf(world) }),
    errors: {
      404: (world) => ({ body: commandsOf(world, NO_CONTRACT) }),
      // The first submission waits for its ledger time, so that the second one finds it in flight.
      409: async (world) => {
        const body = commandsOf(world, { minLedgerTimeRel: { seconds: 5 } })
        await post(world, '/v2/commands/async/submit', body)
        return { body }
      },
    },
  },
  submitAndWait: {
    success: (world) => ({ body: commandsOf(world) }),
    errors: {
      404: (world) => ({ body: commandsOf(world, NO_CONTRACT) }),
      409: async (world) => {
        const body = commandsOf(world)
        await post(world, '/v2/commands/submit-and-wait', body)
        return { body }
      },
    },
  },
  submitAndWaitForTransaction: {
    success: (world) => ({ body: { commands: commandsOf(world) } }),
    errors: {
      404: (world) => ({ body: { commands: commandsOf(world, NO_CONTRACT) } }),
      409: async (world) => {
        const commands = commandsOf(world)
        await post(world, '/v2/commands/submit-and-wait', commands)
        return { body: { commands } }
      },
    },
  },
  submitAndWaitForTransactionTree: {
    success: (world) => ({ body: commandsOf(world) }),
    errors: {
      404: (world) => ({ body: commandsOf(world, NO_CONTRACT) }),
      409: async (world) => {
        const body = commandsOf(world)
        await post(world, '/v2/commands/submit-and-wait', body)
        return { body }
      },
    },
  },
  getCompletions: completions,
  getCommandCompletions: completions,
  getLedgerApiVersion: plain,
  getAuthenticatedUser: plain,
  listLedgerUsers: { success: () => ({ query: { pageSize: 5 } }), errors: {} },
  createLedgerUser: {
    success: ({ fresh }) => ({ body: { user: { id: fresh(), primaryParty: '' }, rights: [] } }),
    errors: {
      409: ({ user }) => ({ body: { user: { id: user.id, primaryParty: '' }, rights: [] } }),
    },
  },
  getLedgerUser: { success: known, errors: { 404: forUnknownUser() } },
  updateLedgerUser: {
    success: async (world) => ({ params: { id: (await world.newUser(null)).id }, ...userUpdate }),
    errors: { 404: forUnknownUser(userUpdate) },
  },
  deleteLedgerUser: {
    success: async (world) => ({ params: { id: (await world.newUser(null)).id } }),
    errors: { 404: forUnknownUser() },
  },
  updateUserProvider: {
    success: ({ user }) => ({ params: { id: user.id }, ...provider }),
    errors: { 404: forUnknownUser(provider) },
  },
  listRights: { success: known, errors: { 404: forUnknownUser() } },
  grantRights: {
    success: async (world) => {
      const other = await world.newUser(null)
      return { params: { id: other.id }, ...rights(world.user.party) }
    },
    errors: { 404: forUnknownUser(rights(UNKNOWN_PARTY)) },
  },
  revokeRights: {
    success: async (world) => {
      const other = await world.newUser(null)
      return { params: { id: other.id }, ...rights(world.user.party) }
    },
    errors: { 404: forUnknownUser(rights(UNKNOWN_PARTY)) },
  },
  allocateParty: {
    success: ({ fresh }) => ({ body: { partyIdHint: fresh() } }),
    errors: { 404: ({ fresh }) => ({ body: { partyIdHint: fresh(), userId: fresh() } }) },
  },
  listParties: { success: () => ({ query: { pageSize: 5 } }), errors: {} },
  getParticipantId: plain,
  getParty: { success: ({ user }) => ({ params: { party: user.party } }), errors: {} },
  updateParty: {
    success: ({ user }) => partyUpdate(user.party),
    errors: { 404: () => partyUpdate(UNKNOWN_PARTY) },
  },
  listPackages: plain,
  getPackage: {
    success: () => ({ params: { packageId: PACKAGE } }),
    errors: { 404: () => ({ params: { packageId: '0'.repeat(64) } }) },
  },
  getPackageStatus: {
    success: () => ({ params: { packageId: PACKAGE } }),
    errors: {},
  },
  getVettedPackages: { success: () => ({ body: { pageSize: 1 } }), errors: {} },
  listVettedPackages: { success: () => ({ body: { pageSize: 1 } }), errors: {} },
  getPreferredPackageVersion: {
    success: ({ user }) => ({ query: { 'package-name': 'quorumscan-coin', parties: user.party } }),
    errors: {},
  },
  getPreferredPackages: {
    success: ({ user }) => ({
      body: {
        packageVettingRequirements: [{ packageName: 'quorumscan-coin', parties: [user.party] }],
      },
    }),
    errors: {},
  },
  listIdps: plain,
  getIdp: {
    success: () => ({ params: { idpId: 'default' } }),
    errors: { 404: () => ({ params: { idpId: 'another' } }) },
  },
} satisfies LedgerCasesOf<typeof ledgerRoutes>

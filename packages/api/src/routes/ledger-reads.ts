/** Reading the ledger: updates, active contracts, where it ends. */
import { defineRoutes } from '../define-routes.ts'
import * as state from '../schemas/ledger/state.ts'
import * as updates from '../schemas/ledger/updates.ts'

/** The tag is that of most; lists of what comes are told how they end. */
const read = { method: 'POST', tag: 'updates', auth: 'user', errorStatuses: [404] } as const
const list = { ...read, query: updates.ListQuery, errorStatuses: [404, 409] } as const
const standing = { method: 'GET', tag: 'state', auth: 'user' } as const

export const ledgerReadRoutes = defineRoutes({
  getUpdates: {
    ...list,
    path: '/v2/updates',
    summary: 'Updates after an offset.',
    description:
      'With `endInclusive` up to there, without it until nothing came for `stream_idle_timeout_ms`. ' +
      'More than 200 elements without a smaller `limit` are 413: ask for less, or use the WebSocket.',
    body: updates.GetUpdatesRequest,
    response: updates.GetUpdatesAnswer,
  },
  getUpdateFlats: {
    ...list,
    path: '/v2/updates/flats',
    summary: 'As `/v2/updates`, under its former name.',
    body: updates.GetUpdatesRequest,
    response: updates.GetUpdatesAnswer,
  },
  getUpdateTrees: {
    ...list,
    path: '/v2/updates/trees',
    summary: 'Transactions as trees, for clients of former times.',
    description: '`updateFormat` must be unset, and `filter` names parties only.',
    body: updates.GetUpdateTreesRequest,
    response: updates.GetUpdateTreesAnswer,
  },
  getUpdateById: {
    ...read,
    path: '/v2/updates/update-by-id',
    summary: 'One update, by its id.',
    body: updates.GetUpdateByIdRequest,
    response: updates.GetUpdatesElement,
  },
  getUpdateByOffset: {
    ...read,
    path: '/v2/updates/update-by-offset',
    summary: 'One update, by its offset.',
    body: updates.GetUpdateByOffsetRequest,
    response: updates.GetUpdatesElement,
  },
  getActiveContracts: {
    ...list,
    path: '/v2/state/active-contracts',
    summary: 'Contracts that are active at an offset.',
    description: 'More than 200 without a smaller `limit` are 413: use the WebSocket.',
    tag: 'state',
    body: state.GetActiveContractsRequest,
    response: state.ActiveContractsAnswer,
  },
  getActiveContractsPage: {
    ...read,
    method: 'GET',
    path: '/v2/state/active-contracts-page',
    summary: 'A page of the contracts that are active at an offset, by contract id.',
    description:
      'The request is a body, as upstream has it; the same is a POST for clients that cannot send one with a GET.',
    tag: 'state',
    body: state.ActiveContractsPageRequest,
    response: state.ActiveContractsPageAnswer,
  },
  postActiveContractsPage: {
    ...read,
    path: '/v2/state/active-contracts-page',
    summary: 'As the GET of this path.',
    tag: 'state',
    body: state.ActiveContractsPageRequest,
    response: state.ActiveContractsPageAnswer,
  },
  getEventsByContractId: {
    ...read,
    path: '/v2/events/events-by-contract-id',
    summary: 'The creation and the archival of a contract.',
    description:
      'For its stakeholders. A contract that was archived is found until the offset of its archival is pruned.',
    tag: 'events',
    body: state.EventsByContractIdRequest,
    response: state.EventsByContractIdAnswer,
  },
  getTransactionById: {
    ...read,
    path: '/v2/updates/transaction-by-id',
    summary: 'One transaction, by its update id.',
    body: updates.GetTransactionByIdRequest,
    response: updates.GetTransactionAnswer,
  },
  getConnectedSynchronizers: {
    ...standing,
    path: '/v2/state/connected-synchronizers',
    summary: 'The synchronizer of the network.',
    query: state.ConnectedSynchronizersQuery,
    response: state.ConnectedSynchronizersAnswer,
  },
  getLatestPrunedOffsets: {
    ...standing,
    path: '/v2/state/latest-pruned-offsets',
    summary: 'Up to where updates and completions are gone; 0 if they never were pruned.',
    response: state.PrunedOffsetsAnswer,
  },
  // Spec silent: upstream's participants are pruned through another interface.
  pruneParticipant: {
    method: 'POST',
    path: '/v2/participant/prune',
    summary: 'Forget updates and completions up to an offset.',
    description: 'Contracts stay. What was pruned before is not undone by a smaller offset.',
    tag: 'participant',
    body: state.PruneRequest,
    response: state.PrunedOffsetsAnswer,
    auth: 'admin',
  },
  getLedgerEnd: {
    ...standing,
    path: '/v2/state/ledger-end',
    summary: 'The newest offset.',
    response: state.LedgerEndAnswer,
  },
})

/** Reading the ledger: updates, active contracts, the ledger end. */
import { Type } from 'typebox'
import { COST_LIST, COST_STORED, COST_USER_READ } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { Int64 } from '../schemas/ledger/relaxed.ts'
import * as state from '../schemas/ledger/state.ts'
import * as updates from '../schemas/ledger/updates.ts'
import * as m from '../schemas/members.ts'

/** The tag of most; the query of a list says when it is complete. */
const read = { tag: 'updates', auth: 'user', errorStatuses: [404] } as const
/** An update may have a thousand events. */
const single = { ...read, cost: COST_LIST } as const
const query = updates.ListQuery
const ofList = { ...read, cost: COST_LIST, isList: true } as const
const list = { ...ofList, query, errorStatuses: [404, 409], waits: true } as const
const activeContracts = { ...ofList, tag: 'state' } as const
const tree = { ...single, query: updates.TreeQuery } as const
const stateRead = { tag: 'state', auth: 'user' } as const

export const ledgerReadRoutes = defineRoutes({
  getUpdates: route('POST /v2/updates', list, {
    summary: 'Updates after an offset.',
    description:
      'Ends at `endInclusive`, or after `stream_idle_timeout_ms` without an element. ' +
      'More than 200 elements without a smaller `limit`: returns 413. Request fewer, or use the WebSocket.',
    body: updates.GetUpdatesRequest,
    response: updates.GetUpdatesAnswer,
  }),
  getUpdateFlats: route('POST /v2/updates/flats', list, {
    summary: 'As `/v2/updates`, under its former name.',
    body: updates.GetUpdatesRequest,
    response: updates.GetUpdatesAnswer,
  }),
  getUpdateTrees: route('POST /v2/updates/trees', list, {
    summary: 'Transactions as trees, for older clients.',
    description: '`updateFormat` must be unset, and `filter` names parties only.',
    body: updates.GetUpdateTreesRequest,
    response: updates.GetUpdateTreesAnswer,
  }),
  getUpdatesPage: route('POST /v2/updates/get-updates-page', ofList, {
    errorStatuses: [404, 409],
    summary: 'A page of updates after an offset.',
    description:
      'Pages of one walk cover adjoining ranges of offsets. A walk fails if what it has not read is pruned meanwhile.',
    body: updates.GetUpdatesPageRequest,
    response: updates.GetUpdatesPageAnswer,
  }),
  getUpdateById: route('POST /v2/updates/update-by-id', single, {
    summary: 'One update, by its id.',
    body: updates.GetUpdateByIdRequest,
    response: updates.GetUpdatesElement,
  }),
  getUpdateByOffset: route('POST /v2/updates/update-by-offset', single, {
    summary: 'One update, by its offset.',
    body: updates.GetUpdateByOffsetRequest,
    response: updates.GetUpdatesElement,
  }),
  getActiveContracts: route('POST /v2/state/active-contracts', activeContracts, {
    summary: 'Contracts that are active at an offset.',
    description: 'More than 200 without a smaller `limit`: returns 413. Use the WebSocket.',
    query,
    errorStatuses: [404, 409],
    body: state.GetActiveContractsRequest,
    response: state.ActiveContractsAnswer,
  }),
  getActiveContractsPage: route('GET /v2/state/active-contracts-page', activeContracts, {
    summary: 'A page of the contracts that are active at an offset, by contract id.',
    description:
      'The request is in the body, as in upstream. Clients that cannot send a body with a GET use the POST.',
    body: state.ActiveContractsPageRequest,
    response: state.ActiveContractsPageAnswer,
  }),
  postActiveContractsPage: route('POST /v2/state/active-contracts-page', activeContracts, {
    summary: 'As the GET of this path.',
    body: state.ActiveContractsPageRequest,
    response: state.ActiveContractsPageAnswer,
  }),
  getEventsByContractId: route('POST /v2/events/events-by-contract-id', read, {
    summary: 'The creation and the archival of a contract.',
    description:
      'For its stakeholders. An archived contract is found until the offset of its archival is pruned.',
    tag: 'events',
    cost: COST_USER_READ,
    body: state.EventsByContractIdRequest,
    response: state.EventsByContractIdAnswer,
  }),
  getTransactionById: route('POST /v2/updates/transaction-by-id', single, {
    summary: 'One transaction, by its update id.',
    body: updates.GetTransactionByIdRequest,
    response: updates.GetTransactionAnswer,
  }),
  getTransactionByOffset: route('POST /v2/updates/transaction-by-offset', single, {
    summary: 'One transaction, by its offset.',
    body: updates.GetTransactionByOffsetRequest,
    response: updates.GetTransactionAnswer,
  }),
  getTransactionTreeById: route('GET /v2/updates/transaction-tree-by-id/{updateId}', tree, {
    summary: 'One transaction as a tree, by its update id; for older clients.',
    params: Type.Object({ updateId: m.string('The id of the update, in hex.') }),
    response: updates.GetTransactionTreeAnswer,
  }),
  getTransactionTreeByOffset: route('GET /v2/updates/transaction-tree-by-offset/{offset}', tree, {
    summary: 'One transaction as a tree, by its offset; for older clients.',
    params: Type.Object({
      offset: m.bounded(Int64, 'The offset of the transaction.', { minimum: 1 }),
    }),
    response: updates.GetTransactionTreeAnswer,
  }),
  getContractById: route('POST /v2/contracts/contract-by-id', read, {
    summary: 'The creation of a contract.',
    description:
      'For its stakeholders. An archived contract is found until the offset of its archival is pruned.',
    tag: 'contracts',
    cost: COST_USER_READ,
    body: state.ContractByIdRequest,
    response: state.ContractByIdAnswer,
  }),
  getConnectedSynchronizers: route('GET /v2/state/connected-synchronizers', stateRead, {
    summary: 'The synchronizer of the network.',
    query: state.ConnectedSynchronizersQuery,
    response: state.ConnectedSynchronizersAnswer,
  }),
  getLatestPrunedOffsets: route('GET /v2/state/latest-pruned-offsets', stateRead, {
    summary: 'The offset up to which updates and completions are pruned; 0: none are.',
    response: state.PrunedOffsetsAnswer,
  }),
  // Not in the specification: upstream's participants are pruned through another interface.
  pruneParticipant: route('POST /v2/participant/prune', stateRead, {
    summary: 'Prunes updates and completions up to an offset.',
    description: 'Contracts stay. A smaller offset than before has no effect.',
    tag: 'participant',
    body: state.PruneRequest,
    response: state.PrunedOffsetsAnswer,
    auth: 'admin',
    cost: COST_STORED,
  }),
  getLedgerEnd: route('GET /v2/state/ledger-end', stateRead, {
    summary: 'The newest offset.',
    response: state.LedgerEndAnswer,
  }),
})

/** Reading the ledger: updates, active contracts, where it ends. */
import type { LedgerRouteDef } from '../ledger-route-def.ts'
import {
  ActiveContractsAnswer,
  ConnectedSynchronizersAnswer,
  ConnectedSynchronizersQuery,
  GetActiveContractsRequest,
  LedgerEndAnswer,
} from '../schemas/ledger/state.ts'
import {
  GetUpdateByIdRequest,
  GetUpdateByOffsetRequest,
  GetUpdatesAnswer,
  GetUpdatesElement,
  GetUpdatesRequest,
  ListQuery,
} from '../schemas/ledger/updates.ts'

type Routes = { readonly [operationId: string]: Omit<LedgerRouteDef, 'operationId'> }

export const ledgerReadRoutes = {
  getUpdates: {
    method: 'POST',
    path: '/v2/updates',
    summary: 'Updates after an offset.',
    description:
      'With `endInclusive` up to there, without it until nothing came for `stream_idle_timeout_ms`. ' +
      'More than 200 elements without a smaller `limit` are 413: ask for less, or use the WebSocket.',
    tag: 'updates',
    query: ListQuery,
    body: GetUpdatesRequest,
    response: GetUpdatesAnswer,
    auth: 'user',
    errorStatuses: [404, 409],
  },
  getUpdateById: {
    method: 'POST',
    path: '/v2/updates/update-by-id',
    summary: 'One update, by its id.',
    tag: 'updates',
    body: GetUpdateByIdRequest,
    response: GetUpdatesElement,
    auth: 'user',
    errorStatuses: [404],
  },
  getUpdateByOffset: {
    method: 'POST',
    path: '/v2/updates/update-by-offset',
    summary: 'One update, by its offset.',
    tag: 'updates',
    body: GetUpdateByOffsetRequest,
    response: GetUpdatesElement,
    auth: 'user',
    errorStatuses: [404],
  },
  getActiveContracts: {
    method: 'POST',
    path: '/v2/state/active-contracts',
    summary: 'Contracts that are active at an offset.',
    description: 'More than 200 without a smaller `limit` are 413: use the WebSocket.',
    tag: 'state',
    query: ListQuery,
    body: GetActiveContractsRequest,
    response: ActiveContractsAnswer,
    auth: 'user',
    errorStatuses: [404, 409],
  },
  getConnectedSynchronizers: {
    method: 'GET',
    path: '/v2/state/connected-synchronizers',
    summary: 'The synchronizer of the network.',
    tag: 'state',
    query: ConnectedSynchronizersQuery,
    response: ConnectedSynchronizersAnswer,
    auth: 'user',
  },
  getLedgerEnd: {
    method: 'GET',
    path: '/v2/state/ledger-end',
    summary: 'The newest offset.',
    tag: 'state',
    response: LedgerEndAnswer,
    auth: 'user',
  },
} as const satisfies Routes

/** Reading the ledger: updates, active contracts, where it ends. */
import type { LedgerRouteDef } from '../ledger-route-def.ts'
import { LedgerEndAnswer } from '../schemas/ledger/state.ts'

type Routes = { readonly [operationId: string]: Omit<LedgerRouteDef, 'operationId'> }

export const ledgerReadRoutes = {
  getLedgerEnd: {
    method: 'GET',
    path: '/v2/state/ledger-end',
    summary: 'The newest offset.',
    tag: 'state',
    response: LedgerEndAnswer,
    auth: 'user',
  },
} as const satisfies Routes

/** The handlers of the ledger interface, one for every route of its table. */
import { commandHandlers } from './commands/handlers.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerHandlers } from './http/handler.ts'
import { stateHandlers } from './state.ts'
import { updateHandlers } from './updates.ts'
import { ledgerUserHandlers, ofDefaultProvider } from './users/handlers.ts'
import { partyHandlers } from './users/parties.ts'

export function ledgerHandlers(context: LedgerApiDeps): LedgerHandlers {
  return {
    ...stateHandlers(context),
    ...commandHandlers(context),
    ...ofDefaultProvider({ ...ledgerUserHandlers(context), ...partyHandlers(context) }),
    ...updateHandlers(context),
  }
}

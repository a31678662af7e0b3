/** The handlers of the ledger interface, one for every route of its table. */
import type { ledgerRoutes } from '@quorumscan/api'
import type { LedgerHandlers } from '@quorumscan/http'
import type { Context } from '../context.ts'
import type { Caller } from './callers.ts'
import { commandHandlers } from './commands/handlers.ts'
import { stateHandlers } from './state.ts'
import { updateHandlers } from './updates.ts'
import { ledgerUserHandlers } from './users/handlers.ts'
import { partyHandlers } from './users/parties.ts'

type AllHandlers = LedgerHandlers<typeof ledgerRoutes, Caller>

/** The handlers of some operations. */
export type LedgerHandlersOf<Operation extends keyof AllHandlers> = Pick<AllHandlers, Operation>

export function ledgerHandlers(context: Context): AllHandlers {
  return {
    ...stateHandlers(context),
    ...commandHandlers(context),
    ...ledgerUserHandlers(context),
    ...partyHandlers(context),
    ...updateHandlers(context),
  }
}

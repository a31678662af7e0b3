/** Where the ledger stands (reference/ledger-interface.md §5.2). */
import type { Context } from '../context.ts'
import type { LedgerHandlersOf } from './handlers.ts'

export function stateHandlers(context: Context): LedgerHandlersOf<'getLedgerEnd'> {
  return {
    async getLedgerEnd() {
      return { offset: context.ledger.head().offset }
    },
  }
}

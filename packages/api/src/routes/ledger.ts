/** The ledger interface (D-27, D-28): one table of its own, because its bodies and errors have their own rules. */
import { ledgerCommandRoutes } from './ledger-commands.ts'
import { ledgerReadRoutes } from './ledger-reads.ts'
import { ledgerUserRoutes } from './ledger-users.ts'

export const ledgerRoutes = {
  ...ledgerReadRoutes,
  ...ledgerCommandRoutes,
  ...ledgerUserRoutes,
}

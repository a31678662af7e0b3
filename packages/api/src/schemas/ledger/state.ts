/** Where the ledger stands (reference/ledger-interface.md §5.2). */
import { Type } from 'typebox'
import { Int64 } from './relaxed.ts'

export const LedgerEndAnswer = Type.Object({ offset: Int64 }, { title: 'GetLedgerEndResponse' })

import type { ledgerRoutes } from '@quorumscan/api'
import type { LedgerHandlers } from '@quorumscan/server'
import type { Caller } from './callers.ts'

export type AllHandlers = LedgerHandlers<typeof ledgerRoutes, Caller>

/** The handlers of some operations. */
export type LedgerHandlersOf<Operation extends keyof AllHandlers> = Pick<AllHandlers, Operation>

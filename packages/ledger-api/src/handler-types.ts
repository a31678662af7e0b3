import type { ledgerRoutes } from '@quorumscan/api'
import type { Caller } from './callers.ts'
import type { LedgerHandlers } from './http/handler.ts'

export type AllHandlers = LedgerHandlers<typeof ledgerRoutes, Caller>

/** The handlers of some operations. */
export type LedgerHandlersOf<Operation extends keyof AllHandlers> = Pick<AllHandlers, Operation>

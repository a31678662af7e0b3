export { type AppOverrides, beginApp, serve } from './app.ts'

export { trackUnused } from './connections.ts'

export type { ApiRequest, Handler, Handlers, Reply } from './handler.ts'
export { createHealthHandlers } from './health.ts'
export type { LedgerHandler, LedgerHandlers, LedgerRequest } from './ledger/handler.ts'
export { type LedgerSocket, ledgerSocketDialect } from './ledger/ledger-sockets.ts'
export { type LedgerAuthenticate, mountLedger } from './ledger/mount.ts'
export { defaultLimits, type HttpLimits } from './limits.ts'

export { createLongPolls, type LongPolls } from './long-polls.ts'

export { Places } from './places.ts'

export { createBudget } from './rate-limit.ts'
export {
  type Authenticate,
  buildServer,
  type HttpServer,
  type ServerOptions,
} from './server.ts'

export { type ApiSocket, apiSocketDialect } from './sockets/api-sockets.ts'
export { mountSockets } from './sockets/mount.ts'

export { type WaitingRequest, withWaitOf } from './waiting.ts'

export { type AppOverrides, beginApp, serve } from './app.ts'
export { chargeForJson, parseExactJson } from './body-parser.ts'
export { trackUnused } from './connections.ts'
export { corsHeaders } from './cors.ts'
export { createDeadlines } from './deadlines.ts'
export { toScanError } from './errors.ts'
export type { ApiRequest, Handler, Handlers, Reply } from './handler.ts'
export { createHealthHandlers } from './health.ts'
export { defaultLimits, type HttpLimits } from './limits.ts'
export { createLongPolls, type LongPolls } from './long-polls.ts'
export { Places } from './places.ts'
export { requireWellFormedQuery } from './query-parser.ts'
export { createBudget } from './rate-limit.ts'
export { readBody } from './read-body.ts'
export { givenRequestId, REQUEST_ID_BYTES } from './request-id.ts'
export {
  type Authenticate,
  buildServer,
  type HttpServer,
  type ServerOptions,
} from './server.ts'
export { type ApiSocket, apiSocketDialect } from './sockets/api-sockets.ts'
export type { Frames, Refusal, SocketDialect } from './sockets/dialect.ts'
export { mountSockets } from './sockets/mount.ts'
export { type WaitingRequest, withWaitOf } from './waiting.ts'

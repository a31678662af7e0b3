export {
  type App,
  type AppOverrides,
  beginApp,
  type Extending,
  type RunningApp,
  startApp,
} from './app.ts'
export { TOOK_TOO_LONG } from './bind.ts'
export { chargeForJson, parseExactJson } from './body.ts'
export { trackUnused } from './closing.ts'
export { ConnectionLimiter } from './connection-limiter.ts'
export { type Refusal, toScanError } from './errors.ts'
export {
  type ApiRequest,
  type Handler,
  type Handlers,
  type Reply,
  type WaitingRequest,
  withWaitOf,
} from './handler.ts'
export { createHealthHandlers } from './health.ts'
export { createLongPolls } from './long-polls.ts'
export { givenRequestId } from './request-id.ts'
export type { Authenticate } from './routes.ts'
export { buildServer, type HttpServer } from './server.ts'
export { type ApiSocket, apiSocketDialect } from './sockets/api-sockets.ts'
export { mountSockets, type SocketDialect } from './sockets/mount.ts'
export type { Frames } from './sockets/serve.ts'
export { createBudget } from './token-buckets.ts'

export { isRedisReady, type LocalRedis } from './probe.ts'
export {
  identityOf,
  type ProcessIdentity,
  type SignalScope,
  signalProcess,
  stateOf,
} from './process-identity.ts'
export { assertRedisUsable } from './redis-version.ts'
export { type RedisService, redisIdOf, type Service, urlOfSocket } from './service.ts'
export type { ServiceStatus } from './service-health.ts'
export { type ServiceHooks, ServiceRunner } from './service-runner.ts'
export * from './socket-directory.ts'
export { boundLog, endLeftovers, runningIn, Supervisor } from './supervisor.ts'

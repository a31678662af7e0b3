export {
  identityOf,
  type ProcessIdentity,
  type SignalScope,
  signalProcess,
  stateOf,
} from './process-identity.ts'
export * from './redis-server.ts'
export * from './service.ts'
export { healthUrlOf, type ServiceStatus } from './service-health.ts'
export * from './service-runner.ts'
export * from './socket-directory.ts'
export { boundLog, endLeftovers, runningIn, Supervisor } from './supervisor.ts'

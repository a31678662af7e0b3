export { ask, type HttpReply } from './ask.ts'
export * from './clock-comparison.ts'
export * from './command-error.ts'
export * from './files.ts'
export { fetchHealth, type Health, type OrderingReport } from './health.ts'
export { keepRunning, type ProcessRestarts } from './keep-running.ts'
export { openLiveFile } from './live-file.ts'
export { createLogger, type Logger } from './logger.ts'
export { measureFailuresTolerated, measureRedis } from './measurements.ts'
export { createMetrics, type Metrics, type Sample } from './metrics.ts'
export { didYouMean } from './nearest.ts'
export {
  endpointsOf,
  type Peer,
  type PeerEndpoint,
  parsePeers,
  parseServiceUrl,
} from './peer-addresses.ts'
export { createPeerClient, type PeerClient, type PeerRequest } from './peer-client.ts'
export * from './peer-clocks.ts'
export * from './peer-tokens.ts'
export { createPenalties } from './penalties.ts'
export { createRateLimitedLog, type RateLimitedLog } from './rate-limited-log.ts'
export { pollPeers, type Repetition, repeat } from './repeat.ts'
export * from './tls-certificate.ts'
export * from './tracing.ts'
export * from './undici-transport.ts'

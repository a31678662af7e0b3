export { ask, type HttpReply } from './ask.ts'
export { askAll, askInTurn, HEDGE_MS_MAX, type SourceAnswer } from './ask-in-turn.ts'
export * from './certificate-validity.ts'
export * from './clock-comparison.ts'
export * from './command-error.ts'
export * from './files.ts'
export { fetchHealth, type Health, type MemberReport, type OrderingReport } from './health.ts'
export { keepRunning, type ProcessRestarts } from './keep-running.ts'
export { openLiveFile } from './live-file.ts'
export { createLogger, type Logger } from './logger.ts'
export { measureFailuresTolerated, measureRedis } from './measurements.ts'
export { createMetrics, type Metrics, type Sample } from './metrics.ts'
export { didYouMean, nearestOf } from './nearest.ts'
export * from './own-certificates.ts'
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
export { createPenalties, type Penalties } from './penalties.ts'
export { createRateLimitedLog, type RateLimitedLog } from './rate-limited-log.ts'
export * from './redis-memory.ts'
export { pollPeers, type Repetition, repeat } from './repeat.ts'
export { createSilence, SILENCE_TICK_MS, SILENT_MS_MAX, type Silence } from './silence.ts'
export * from './tls-certificate.ts'
export * from './tracing.ts'
export * from './undici-transport.ts'

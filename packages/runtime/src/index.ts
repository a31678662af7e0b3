export { type Asked, ask } from './ask.ts'
export {
  type Certificate,
  type CertificateFiles,
  openCertificate,
  problemOfCertificate,
} from './certificate.ts'
export {
  CLOCK_TOLERANCE_MICROS,
  type ClockReading,
  type ClockVerdict,
  describeOffset,
  freshReadings,
  judgeClock,
  type Moment,
  offsetOf,
} from './clock-comparison.ts'
export {
  CommandError,
  messageOf,
  messageOfWrite,
  SilentError,
  UsageError,
} from './command-error.ts'
export {
  assertWritable,
  identityOfDirectory,
  isErrno,
  makePrivateDirectory,
  PUBLIC_MODE,
  readJson,
  readOwnJson,
  readSecret,
  SECRET_BYTES,
  syncDirectory,
  unlessDamaged,
  writeFileAtomic,
  writeFileOnce,
  writeFileUnlessEqual,
  writeOwnJson,
} from './files.ts'
export { askHealth, type Health, type OrderingReport } from './health.ts'
export { type KeptProcesses, keepRunning, type RestartPolicy } from './keep-running.ts'
export { createLogger, type Logger } from './logger.ts'
export { measureMargins, measureRedis } from './measurements.ts'
export { createMetrics, type Metrics, type Sample } from './metrics.ts'
export { didYouMean } from './nearest.ts'
export { type Peer, parsePeers, parseServiceUrl } from './peer-addresses.ts'
export { createPeerClient, type PeerClient, type PeerRequest } from './peer-client.ts'
export {
  assertFollowing,
  CLOCK_HEADER,
  clockOffsetMs,
  createPeerClocks,
  DETAIL_HEADER,
  OFFSET_HEADER,
  type PeerClocks,
} from './peer-clocks.ts'
export {
  isPeerToken,
  PEER_TOKEN_HEADER,
  parseOriginTokens,
  parsePeerTokens,
} from './peer-tokens.ts'
export { pollPeers } from './poll-peers.ts'
export { type QuietLines, quiet } from './quiet.ts'
export { type Repetition, repeat } from './repeat.ts'
export {
  type Span,
  startTracing,
  type Tracer,
  type Tracing,
  traced,
  tracedTransport,
  traceIdOf,
  traceparentOf,
} from './tracing.ts'
export { connectorOf, createFetch, createUndiciTransport } from './undici-transport.ts'

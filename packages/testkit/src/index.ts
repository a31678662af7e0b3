export { createAuthority, type TestAuthority } from './certificates.ts'
export { freePort } from './free-port.ts'
export {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  send,
} from './http-client.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { startRedis, type TestRedis } from './redis.ts'
export { type Found, provided, type RequirementName, required } from './requirements.ts'
export { startSentinels, type TestSentinels } from './sentinels.ts'
export { createSignedState, type SignedState } from './sim/signed-state.ts'
export { createSimClock, type SimClock } from './sim/sim-clock.ts'
export {
  createSimLedger,
  entryToWire,
  type SimEntry,
  type SimLedger,
  simAnswer,
} from './sim/sim-ledger.ts'
export {
  createSimNetwork,
  type SimHandler,
  type SimNetwork,
  type SimReply,
} from './sim/sim-network.ts'
export {
  createSimNode,
  pointHeaders,
  type SimNode,
  scansBody,
  signAddress,
  simCrypto,
} from './sim/sim-node.ts'
export { createSimStates, type SimStates } from './sim/sim-states.ts'
export { createSimWorld, type SimWorld, simEntry } from './sim/sim-world.ts'
export {
  createTestNetwork,
  DAY_MICROS,
  HOUR_MICROS,
  type TestNetwork,
  testKeyPair,
} from './test-network.ts'
export { slowness } from './time-limits.ts'
export type {} from './to-answer.ts'
export {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from './trace-collector.ts'
export { type UntilOptions, until, untilTrue } from './until.ts'
export { withoutDeadline } from './without-deadline.ts'

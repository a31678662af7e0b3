export { answerOf } from './certified/document.ts'
export { type CryptoPort, createWebCrypto, isSignature } from './crypto/crypto.ts'
export { nodeCrypto } from './crypto/node-crypto.ts'
export { createNodeCrypto, createPlatformCrypto } from './crypto/platform-crypto.ts'
export { isUsableKey } from './crypto/usable-key.ts'
export { bodiesEqual } from './encoding/bodies-equal.ts'
export * from './encoding/bytes.ts'
export * from './encoding/canonical-json.ts'
export { LONE_SURROGATE } from './encoding/lone-surrogate.ts'
export { memberOf, membersOf } from './encoding/members-of.ts'
export { endOfString, parseStrictJson } from './encoding/strict-json.ts'
export { formatInstant, parseInstant } from './encoding/time.ts'
export { readVarint, type Varint } from './encoding/varint.ts'
export * from './genesis/genesis.ts'
export { hashGenesis } from './genesis/genesis-hash.ts'
export { type MemberSet, memberSetOf } from './genesis/member-set.ts'
export { parseGenesis } from './genesis/parse-genesis.ts'
export { parseThreshold, type Threshold, thresholdVotes } from './genesis/threshold.ts'
export { isTrusted, type TrustList, type TrustRule } from './genesis/trust.ts'
export { trustRule } from './genesis/trust-rule.ts'
export * from './limits.ts'
export * from './names/entry-fields.ts'
export { PARTY } from './names/party.ts'
export * from './names/qualified-name.ts'
export type { Sha256 } from './proof/tree-hash.ts'
export { chainIdOf } from './statements/block-vote.ts'
export * from './statements/canonical-pages.ts'
export * from './statements/canonical-request.ts'
export * from './statements/evidence.ts'
export {
  encodeAddressStatement,
  encodeLogGroupStatement,
  encodeSnapshotStatement,
  encodeStateStatement,
  encodeSubmissionStatement,
  type HistoryPoint,
  type StatePoint,
} from './statements/statements.ts'
export { type Backoff, backoffMs } from './waiting/backoff.ts'
export { linkedController, onAbort } from './waiting/linked-controller.ts'
export { singleFlight } from './waiting/single-flight.ts'

export { answerOf, openDocument } from './certified/document.ts'
export { type CryptoPort, createWebCrypto, isSignature } from './crypto/crypto.ts'
export { isUsableKey } from './crypto/usable-key.ts'
export { bodiesEqual } from './encoding/bodies-equal.ts'
export { bytesEqual, concatBytes, fromHex, toHex, utf8 } from './encoding/bytes.ts'
export { canonicalJson, type Json, LONE_SURROGATE } from './encoding/canonical-json.ts'
export { endOfString, parseStrictJson } from './encoding/strict-json.ts'
export { formatInstant, parseInstant } from './encoding/time.ts'
export {
  blockQuorumOf,
  type CometbftOrdering,
  EVIDENCE_AGE,
  type EvidenceAge,
  type Genesis,
  GenesisError,
  type GenesisNode,
  type GenesisOrdering,
  maxFaulty,
  NOT_AFTER_MICROS_MAX,
  quorumOf,
} from './genesis/genesis.ts'
export { hashGenesis } from './genesis/genesis-hash.ts'
export { parseGenesis } from './genesis/parse-genesis.ts'
export { parseThreshold, type Threshold, thresholdVotes } from './genesis/threshold.ts'
export {
  ASKED_NAME_LENGTH_MAX,
  BATCH_LOOKUPS_MAX,
  CERTIFIED_MEDIA_TYPE,
  ENTRY_NAME_LENGTH_MAX,
  PAGE_SIZE_MAX,
} from './limits.ts'
export {
  DESCRIPTION_UNITS_MAX,
  DSO_ENTRY_NAME,
  type EntryFields,
  type EntryFieldViolation,
  findEntryFieldViolation,
  NAME_SUFFIX,
  svEntryName,
  URL_LENGTH_MAX,
} from './names/entry-fields.ts'
export type { Sha256 } from './proof/tree-hash.ts'
export {
  createEvidenceLog,
  type Evidence,
  EvidenceError,
  type EvidenceLog,
  type ProvenEvidence,
  type SignedStatement,
  SYNCHRONIZER,
  verifyEvidence,
} from './statements/evidence.ts'
export {
  type CanonicalRequest,
  type Lookup,
  REQUEST_OF_DSO_PARTY_ID,
  REQUEST_OF_SCANS,
  requestOfActivities,
  requestOfAmuletRules,
  requestOfAnsRules,
  requestOfDso,
  requestOfEntries,
  requestOfEntriesByParty,
  requestOfLookup,
  requestOfMiningRounds,
} from './statements/requests.ts'
export {
  type AddressStatement,
  encodeAddressStatement,
  encodeLogGroupStatement,
  encodeSnapshotStatement,
  encodeStateStatement,
  encodeSubmissionStatement,
  type HistoryPoint,
  type LogGroupStatement,
  type SnapshotStatement,
  type StatePoint,
  type StateStatement,
  type SubmissionStatement,
} from './statements/statements.ts'
export { chainIdOf } from './statements/vote.ts'
export { type Backoff, backoffMs } from './waiting/backoff.ts'
export { singleFlight } from './waiting/single-flight.ts'

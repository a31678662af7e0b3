export { activitiesBytesMax, entriesBytesMax, scansBytesMax } from './answers/answer-sizes.ts'
export { LOOKUP_NAME_LENGTH_MAX } from './answers/lookups.ts'
export { type CryptoPort, createWebCrypto } from './crypto/crypto.ts'
export { isUsableKey } from './crypto/usable-key.ts'
export { bytesEqual, concatBytes, fromHex, toHex, utf8 } from './encoding/bytes.ts'
export { canonicalJson, type Json, LONE_SURROGATE } from './encoding/canonical-json.ts'
export { endOfString, parseStrictJson } from './encoding/strict-json.ts'
export { formatInstant, parseInstant } from './encoding/time.ts'
export { fetchGenesis, type SeedAnswer } from './genesis/fetch-genesis.ts'
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
  DESCRIPTION_UNITS_MAX,
  DSO_ENTRY_NAME,
  type EntryFields,
  type EntryFieldViolation,
  findEntryFieldViolation,
  NAME_LENGTH_MAX,
  NAME_SUFFIX,
  svEntryName,
  URL_LENGTH_MAX,
} from './names/entry-fields.ts'
export type { AddressRecord } from './nodes/address-book.ts'
export { createBodyPieces } from './nodes/body-pieces.ts'
export { createFetchTransport, readAtMost } from './nodes/fetch-transport.ts'
export { isAuthenticated, parseNodeUrl } from './nodes/node-url.ts'
export {
  PrivateAddressError,
  type Transport,
  type TransportReply,
  type TransportRequest,
} from './nodes/transport.ts'
export { createFloor, type Floor } from './reader/floor.ts'
export {
  type AddressStore,
  type FloorStore,
  type Fork,
  type NodeReply,
  type NodeStatus,
  type Reader,
  type ReaderClock,
  ReaderError,
  type ReaderErrorCode,
  type ReaderOptions,
  type ReaderStatus,
  type ReadRequest,
} from './reader/reader-options.ts'
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
export { DECISIONS, type Decisions } from './votes/decisions.ts'
export {
  type Decided,
  type Disputed,
  type Insufficient,
  isDecided,
  type Lagging,
  type Outcome,
  type Participation,
  type ReadOptions,
  type VoteGroup,
} from './votes/outcome.ts'

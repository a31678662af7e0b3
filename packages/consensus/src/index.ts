export type { AddressRecord } from './address-book.ts'
export { bytesEqual, concatBytes, fromHex, toHex, utf8 } from './bytes.ts'
export { canonicalJson, type Json } from './canonical-json.ts'
export {
  type CanonicalRequest,
  canonicalRequest,
  type Lookup,
  requestOfLookup,
} from './canonical-request.ts'
export { type CryptoPort, createWebCrypto } from './crypto.ts'
export { DECISIONS, type Decisions } from './decisions.ts'
export {
  createEvidenceLog,
  type Evidence,
  EvidenceError,
  type EvidenceLog,
  type ProvenEvidence,
  type SignedStatement,
  SYNCHRONIZER,
  verifyEvidence,
} from './evidence.ts'
export { fetchGenesis } from './fetch-genesis.ts'
export { createFetchTransport } from './fetch-transport.ts'
export { createFloor, type Floor } from './floor.ts'
export {
  type Genesis,
  GenesisError,
  type GenesisNode,
  maxFaulty,
  quorumOf,
} from './genesis.ts'
export { hashGenesis } from './genesis-hash.ts'
export { createLeanReader } from './lean-reader.ts'
export { isPublicAddress, parseNodeUrl } from './node-url.ts'
export {
  type Decided,
  type Disputed,
  type Insufficient,
  isDecided,
  type Lagging,
  type NodeVote,
  type Outcome,
  type Participation,
  type ReadOptions,
  type VoteGroup,
} from './outcome.ts'
export { parseGenesis } from './parse-genesis.ts'
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
  type SignedAnswer,
} from './reader-options.ts'
export {
  createReceipt,
  encodeReceipt,
  encodeVerifiedBody,
  parseReceipt,
  RECEIPT_DECISIONS,
  type Receipt,
  type ReceiptDecisions,
  ReceiptError,
  type ReceiptErrorCode,
  type VerifiedReceipt,
  verifyReceipt,
} from './receipts.ts'
export { type ReverseLookup, reverseLookup } from './reverse-lookup.ts'
export {
  type AddressStatement,
  type AnswerStatement,
  type AttestationStatement,
  encodeAddressStatement,
  encodeAnswerStatement,
  encodeAttestationStatement,
  encodeLogGroupStatement,
  encodeSnapshotStatement,
  encodeSubmissionStatement,
  type HistoryPoint,
  type LogGroupStatement,
  type SnapshotStatement,
  STATEMENT_TAGS,
  type SubmissionStatement,
} from './statements.ts'
export { parseStrictJson } from './strict-json.ts'
export { parseThreshold, type Threshold, thresholdVotes } from './threshold.ts'
export { formatInstant, parseInstant } from './time.ts'
export type { Transport, TransportReply, TransportRequest } from './transport.ts'
export { isUsableKey } from './usable-key.ts'

/** Certified reads: certificates of the state, and answers that are proven from it. */
export * from '../certificates/certificate.ts'
export * from '../certificates/certificate-checks.ts'
export * from '../certificates/collection.ts'
export { sha256 } from '../crypto/sha256.ts'
export { CERTIFIED_MEDIA_TYPE } from '../limits.ts'
export { InvalidProof, type InvalidProofCode } from '../proof/invalid-proof.ts'
export * from '../proof/prune.ts'
export {
  encodeProof,
  joinProofs,
  type ProofItem,
  type ProvenLeaf,
  type ProvenRange,
  verifyRanges,
  visibleLeaves,
} from '../proof/range-proof.ts'
export * from './activities.ts'
export {
  BEFORE_CERTIFICATE,
  type Certified,
  type CertifiedVerifier,
  createCertifiedVerifier,
  encodeDocument,
  splitDocument,
} from './document.ts'
export { leavesOfDocument } from './document-leaves.ts'
export { type Freshness, isBelowOffset, isStale } from './freshness.ts'
export { type CertifiedPage, entriesQuery, type PageRequest, partyEntriesQuery } from './lists.ts'
export * from './lookups.ts'
export * from './page-token.ts'
export {
  type ActivitiesPage,
  type CertifiedEntry,
  type NetworkValue,
  networkQuery,
  type RangeQuery,
  type RowsQuery,
  type StateQuery,
} from './query.ts'
export { queryOf } from './query-of-request.ts'

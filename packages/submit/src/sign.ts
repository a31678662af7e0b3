import { type KeyPair, type Random, randomHex, sha256Hex } from '@quorumscan/base'
import { encodeEntry } from '@quorumscan/ledger'
import type { Micros, Submission } from '@quorumscan/model'

/** Who signs. */
export type Participant = {
  /** Hex. */
  readonly genesisHash: string
  readonly keyPair: KeyPair
  readonly random: Random
}

/** What its submitter decides of a submission. */
export type SubmissionBody = Omit<Submission, 'genesis' | 'participant' | 'id' | 'notAfter'>

export type SignedSubmission = {
  readonly submission: Submission
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes, hex. */
  readonly entryHash: string
}

/** Signs a submission that has no effect after `notAfter`. @throws {RangeError} If it is too large, or malformed. */
export function signSubmission(
  { genesisHash, keyPair, random }: Participant,
  body: SubmissionBody,
  notAfter: Micros,
): SignedSubmission {
  const participant = keyPair.publicKey
  const submission = {
    ...body,
    genesis: genesisHash,
    participant,
    id: randomHex(random, 16),
    notAfter,
  }
  const bytes = encodeEntry(submission, keyPair)
  return { submission, bytes, entryHash: sha256Hex(bytes) }
}

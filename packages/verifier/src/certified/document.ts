/**
 * Certified answers: `{certificate, proof}`, which proves the answer to one request to every reader that has the genesis,
 * from any source. docs/certified-reads.md has the format. The result is made from the text that was checked.
 */

import type { SignatureVerifier } from '../certificates/certificate.ts'
import {
  type CertificateChecks,
  type CheckedCertificate,
  createCertificateChecks,
} from '../certificates/certificate-checks.ts'
import { fromUtf8 } from '../encoding/bytes.ts'
import { memberSetOf } from '../genesis/member-set.ts'
import { type Threshold, thresholdVotes } from '../genesis/threshold.ts'
import { InvalidProof } from '../proof/invalid-proof.ts'
import { verifyRanges } from '../proof/range-proof.ts'
import type { HashedNetwork } from './lookups.ts'
import type { StateQuery } from './query.ts'

export type Certified<Answer> = {
  readonly answer: Answer
  readonly offset: number
  /** In µs. */
  readonly recordTime: number
  readonly historyHash: string
  /** In the order of the genesis. */
  readonly signers: readonly string[]
}

export type CertifiedVerifier = ReturnType<typeof createCertifiedVerifier>

/**
 * A verifier for one network, or for a trust rule in it. It stores the last certificates that it checked, so that each further answer at
 * the same offset costs hashes only.
 */
export function createCertifiedVerifier(
  network: HashedNetwork & { readonly crypto: SignatureVerifier },
) {
  const checks = createCertificateChecks(network)
  return {
    /**
     * What a document proves about a query. The caller checks whether it is recent enough: `isStale`,
     * `isBelowOffset`.
     *
     * @param document - As received. Of bytes a copy is checked and read.
     * @param threshold - How many members must have signed the state; under a trust rule, how many of its members.
     * @throws {InvalidProof} If it proves nothing about the query.
     * @throws {RangeError} If the threshold is not a number from f + 1 to n, or of the trust rule.
     */
    async verify<Answer>(
      document: string | Uint8Array,
      stateQuery: StateQuery<Answer>,
      threshold: Threshold,
    ): Promise<Certified<Answer>> {
      const text = documentText(document)
      const { checked, proof } = await openDocument(text, threshold, { network, checks })
      return answerOf(proof, checked, stateQuery, network)
    },
  }
}

/**
 * The certificate of a document, checked, and the proof, which is not.
 *
 * @throws As `CertifiedVerifier.verify`.
 */
export async function openDocument(
  document: string,
  threshold: Threshold,
  { network, checks }: { readonly network: HashedNetwork; readonly checks: CertificateChecks },
): Promise<{ readonly checked: CheckedCertificate; readonly proof: string }> {
  const signerCount = thresholdVotes(threshold, memberSetOf(network.genesis), network.trust)
  if (signerCount === undefined) throw new RangeError('the threshold is not from f + 1 to n')
  const { certificate, proof } = splitDocument(document)
  const checked = await checks.check(certificate)
  if (checked.signers.length >= signerCount) return { checked, proof }
  throw new InvalidProof(
    'TOO_FEW_SIGNERS',
    `${checked.signers.length} members signed the state, ${signerCount} are needed`,
  )
}

/**
 * What the proof of a document proves about a query.
 *
 * @throws {InvalidProof} If it does not prove it.
 */
export function answerOf<Answer>(
  proof: string,
  { offset, recordTime, historyHash, root, signers }: CheckedCertificate,
  stateQuery: StateQuery<Answer>,
  { sha256 }: Pick<HashedNetwork, 'sha256'>,
): Certified<Answer> {
  if (stateQuery.offset !== null && stateQuery.offset !== offset)
    throw new InvalidProof('NOT_PROVEN', 'the page is of another offset')
  const state = { root, offset, at: recordTime, sha256 }
  const answer =
    'ranges' in stateQuery
      ? stateQuery.answer(verifyRanges({ ...state, proof, ranges: stateQuery.ranges }), offset)
      : stateQuery.verify(proof, state)
  // The list of signers is a copy: the next reader counts those that are remembered.
  return { answer, offset, recordTime, historyHash, signers: [...signers] }
}

// Unless marked, it stays in bundles that are given texts only.
export const BEFORE_CERTIFICATE = '{"certificate":'
const BEFORE_PROOF = ',"proof":'

/** The one text of a document; of ranges the proof is what `joinProofs` gives. */
export function encodeDocument(certificate: string, proof: string): string {
  return `${BEFORE_CERTIFICATE}${certificate}${BEFORE_PROOF}${proof}}`
}

/**
 * The texts of certificate and proof of a document, which have one form each and are checked as such.
 *
 * @throws {InvalidProof} If it is not put together as `encodeDocument` does.
 */
export function splitDocument(text: string): {
  readonly certificate: string
  readonly proof: string
} {
  // A certificate, which holds names of members and hex, has no such text in it.
  const end = text.indexOf(BEFORE_PROOF)
  const certificate = text.slice(BEFORE_CERTIFICATE.length, end)
  const proof = text.slice(end + BEFORE_PROOF.length, -1)
  if (encodeDocument(certificate, proof) === text) return { certificate, proof }
  throw new InvalidProof('MALFORMED', 'the document is malformed')
}

/**
 * The text of a document as it came.
 *
 * @throws {InvalidProof} If it is not UTF-8.
 */
export function documentText(document: string | Uint8Array): string {
  if (typeof document === 'string') return document
  try {
    return fromUtf8(document)
  } catch (cause) {
    throw new InvalidProof('MALFORMED', 'the document is not UTF-8', { cause })
  }
}

/** Reads a certified document without its request. */
import type { SignatureVerifier } from '../certificates/certificate.ts'
import { createCertificateChecks } from '../certificates/certificate-checks.ts'
import type { Threshold } from '../genesis/threshold.ts'
import type { ProvenRow } from '../proof/activity-run.ts'
import { type ProvenLeaf, shownLeaves } from '../proof/range-proof.ts'
import { verifyActivities } from './activities.ts'
import { type Certified, documentText, openDocument } from './document.ts'
import type { HashedNetwork } from './lookups.ts'

/**
 * The visible leaves of the state that a document shows, or rows of the activity history as leaves with the keys
 * `activity`, event id. The document proves that they exist, and that rows follow each other. It cannot prove absence:
 * only a request says which keys were looked up.
 *
 * @throws As `CertifiedVerifier.verify`.
 */
export async function leavesOfDocument(
  document: string | Uint8Array,
  threshold: Threshold,
  network: HashedNetwork & { readonly crypto: SignatureVerifier },
): Promise<Certified<readonly ProvenLeaf[]>> {
  const checks = createCertificateChecks(network)
  const text = documentText(document)
  const { checked, proof } = await openDocument(text, threshold, { network, checks })
  const { offset, recordTime, historyHash, root, signers } = checked
  const state = { root, offset, at: recordTime, sha256: network.sha256 }
  const answer = proof.startsWith('{')
    ? verifyActivities(proof, state).rows.map(rowLeaf)
    : shownLeaves({ ...state, proof })
  return { answer, offset, recordTime, historyHash, signers }
}

function rowLeaf({ eventId, row }: ProvenRow): ProvenLeaf {
  return { key: ['activity', eventId], expiresAt: null, value: row }
}

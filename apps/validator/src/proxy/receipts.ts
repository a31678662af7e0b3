/** Answers in the form that carries a receipt (D-42). Pure. */
import {
  type CanonicalRequest,
  createReceipt,
  type Decided,
  encodeVerifiedBody,
} from '@quorumscan/consensus'

/**
 * `{status, answer, receipt}`: the status of the usual form, and the bytes that the nodes signed.
 *
 * @param outcome - Of a read with `sign`.
 */
export function verifiedAnswer(
  outcome: Decided,
  question: { readonly request: CanonicalRequest; readonly genesisHash: string },
): { readonly status: number; readonly body: Uint8Array } {
  const status = isAbsence(outcome) ? 404 : 200
  return {
    status,
    body: encodeVerifiedBody({ status, receipt: createReceipt({ outcome, ...question }) }),
  }
}

/** Whether the nodes agreed that there is no such entry. */
export function isAbsence(outcome: { readonly kind: string }): boolean {
  return outcome.kind === 'verified-absent' || outcome.kind === 'trusted-absent'
}

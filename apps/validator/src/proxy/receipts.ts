/** Answers in the form that carries a receipt (D-42). Pure. */
import { concatBytes, utf8 } from '@quorumscan/base'
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

/** `{"results":[…]}` of what each lookup would be answered with alone: a receipt is for one answer. */
export function verifiedBatch(
  outcomes: readonly Decided[],
  questions: { readonly requests: readonly CanonicalRequest[]; readonly genesisHash: string },
): Uint8Array {
  const { genesisHash } = questions
  const parts = outcomes.flatMap((outcome, index) => {
    const request = questions.requests[index] as CanonicalRequest // One for each outcome.
    const { body } = verifiedAnswer(outcome, { request, genesisHash })
    return index === 0 ? [body] : [utf8(','), body]
  })
  return concatBytes([utf8('{"results":['), ...parts, utf8(']}')])
}

/** Whether the nodes agreed that there is no such entry. */
export function isAbsence(outcome: { readonly kind: string }): boolean {
  return outcome.kind === 'verified-absent' || outcome.kind === 'trusted-absent'
}

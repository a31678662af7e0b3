/** The answer of a batch that was asked for signed. */
import { isSignature } from '../crypto/crypto.ts'
import { cutBatchAnswer } from './batch.ts'

const SIGNATURES = '],"signatures":["'
const END = '"]}'

/** The answers of a batch, byte for byte, and a hex signature for each. */
export type SignedAnswers = {
  readonly answers: readonly Uint8Array<ArrayBuffer>[]
  readonly signatures: readonly string[]
}

/**
 * As `cutBatchAnswer`, of `{"results":[…],"signatures":[…]}`.
 *
 * @returns undefined also unless there is a signature for each answer.
 */
export function cutSignedBatch(text: string, lookupCount: number): SignedAnswers | undefined {
  // No signature has such a text in it, so that the last one begins them.
  const end = text.lastIndexOf(SIGNATURES)
  if (end < 0 || !text.endsWith(END)) return undefined
  const signatures = text.slice(end + SIGNATURES.length, -END.length).split('","')
  if (signatures.length !== lookupCount || !signatures.every(isSignature)) return undefined
  const answers = cutBatchAnswer(`${text.slice(0, end)}]}`, lookupCount)
  return answers && { answers, signatures }
}

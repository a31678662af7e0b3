/** Whether a node signed what it answered (D-41). */
import type { CryptoPort } from '../crypto/crypto.ts'
import { fromHex, toHex } from '../encoding/bytes.ts'
import type { SignedAnswer } from '../reader/reader-options.ts'
import { canonicalRequest } from '../statements/requests.ts'
import { encodeAnswerStatement } from '../statements/statements.ts'
import type { Effect, SignedVote } from './messages.ts'

/**
 * The statements that the node signed, by answer; null unless its key signed exactly this vote on exactly this
 * request.
 */
export function checkSignatures(
  check: Effect & { readonly kind: 'check' },
  by: { readonly genesisHash: string; readonly crypto: CryptoPort },
): Promise<(SignedAnswer | null)[]> {
  const { node, scanKey } = check
  return Promise.all(check.answers.map((answer) => checkAnswer(answer, { node, scanKey, ...by })))
}

async function checkAnswer(
  { request, vote, signature }: SignedVote,
  by: {
    readonly node: string
    readonly scanKey: string
    readonly genesisHash: string
    readonly crypto: CryptoPort
  },
): Promise<SignedAnswer | null> {
  const { crypto, genesisHash, node } = by
  const { offset, recordTime, historyHash, answer } = vote
  const statement = {
    genesisHash,
    offset,
    recordTime,
    historyHash,
    requestHash: toHex(await crypto.sha256(canonicalRequest(request))),
    answerHash: toHex(await crypto.sha256(answer)),
  }
  const isValid = await crypto.verifyEd25519({
    publicKey: fromHex(by.scanKey),
    signature: fromHex(signature),
    message: encodeAnswerStatement(statement),
  })
  return isValid ? { ...statement, node, signature } : null
}

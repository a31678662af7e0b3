/** Whether a node signed what it answered (D-41). */

import type { CryptoPort } from '../crypto/crypto.ts'
import { fromHex, toHex } from '../encoding/bytes.ts'
import type { Item } from '../reader/item.ts'
import type { SignedAnswer } from '../reader/reader-options.ts'
import { type CanonicalRequest, canonicalRequest, requestOfLookup } from '../statements/requests.ts'
import { encodeAnswerStatement } from '../statements/statements.ts'
import type { Vote } from '../votes/tally.ts'

/** The statement that the node signed; null unless its key signed exactly this vote on exactly this item. */
export async function checkAnswer(input: {
  readonly genesisHash: string
  readonly crypto: CryptoPort
  readonly item: Item
  readonly vote: Vote
  readonly node: string
  /** The node's, hex. */
  readonly scanKey: string
  /** Hex; null where the node sent none. */
  readonly signature: string | null
}): Promise<SignedAnswer | null> {
  const { crypto, item, vote, signature } = input
  if (signature === null) return null
  const hashOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
    toHex(await crypto.sha256(bytes))
  item.requestHash ??= hashOf(canonicalRequest(requestOfItem(item)))
  const statement = {
    genesisHash: input.genesisHash,
    offset: vote.offset,
    recordTime: vote.recordTime,
    historyHash: vote.historyHash,
    requestHash: await item.requestHash,
    answerHash: await hashOf(vote.answer),
  }
  const isValid = await crypto.verifyEd25519({
    publicKey: fromHex(input.scanKey),
    signature: fromHex(signature),
    message: encodeAnswerStatement(statement),
  })
  return isValid ? { ...statement, node: input.node, signature } : null
}

/** The operation that the item stands for, as it is signed (D-41). */
function requestOfItem(item: Item): CanonicalRequest {
  return item.asked.kind === 'lookup'
    ? requestOfLookup(item.asked.lookup)
    : { operation: item.asked.request.operation, parameters: item.asked.request.parameters }
}

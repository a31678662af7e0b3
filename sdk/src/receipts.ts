/** Receipts, checked offline: in Node, in a browser, years later. Needs the genesis document, nothing else. */
import {
  type CanonicalRequest,
  type CryptoPort,
  createWebCrypto,
  type Genesis,
  hashGenesis,
  type Threshold,
  thresholdVotes,
  verifyReceipt as verifyVotes,
} from '@quorumscan/consensus'
import { createCertifiedVerifier, questionOf, sha256 } from '@quorumscan/consensus/certified'
import { platformSha256 } from './platform/platform-sha256.ts'

export {
  type CanonicalRequest,
  type CryptoPort,
  type Genesis,
  GenesisError,
  type GenesisNode,
  hashGenesis,
  type Lookup,
  parseGenesis,
  type Receipt,
  ReceiptError,
  type ReceiptErrorCode,
  requestOfLookup,
} from '@quorumscan/consensus'
export { InvalidProof, type InvalidProofCode } from '@quorumscan/consensus/certified'
export type { CertifiedReceipt } from '@quorumscan/consensus/certified-reader'

/** What a receipt proves: this is the answer to the request, at this offset, say these members. */
export type VerifiedReceipt = {
  /** Of a lookup the entry as nodes have it, or null: there is none. */
  readonly answer: unknown
  readonly offset: number
  /** µs since the epoch. */
  readonly recordTime: number
  readonly historyHash: string
  readonly signers: readonly string[]
}

export type VerifyReceiptOptions = {
  readonly genesis: Genesis
  /** What the receipt must be an answer to. */
  readonly request: CanonicalRequest
  /** Members that must have signed. Default `weak`: f+1. */
  readonly threshold?: Threshold
  /** Default: WebCrypto. */
  readonly crypto?: CryptoPort
}

/**
 * Checks a receipt of a lookup: a certified document, or, of a scan proxy, the signed votes of several nodes.
 *
 * @param receipt - As a lookup gave it, or as it was read from JSON; of a document the text alone will do.
 * @throws {InvalidProof} If the document does not prove the answer to this request.
 * @throws {ReceiptError} If the votes do not.
 * @throws {RangeError} If the request is none that has receipts, or the threshold is not within f+1 to n.
 */
export async function verifyReceipt(
  receipt: unknown,
  options: VerifyReceiptOptions,
): Promise<VerifiedReceipt> {
  const { genesis, request, threshold = 'weak', crypto = createWebCrypto() } = options
  const document = typeof receipt === 'string' ? receipt : Object(receipt).document
  if (typeof document !== 'string') {
    const votes = thresholdVotes(threshold, genesis.nodes.length)
    if (votes === undefined) throw new RangeError('the threshold is not from f + 1 to n')
    const verified = await verifyVotes(receipt, { genesis, request, threshold: votes, crypto })
    const answer = JSON.parse(new TextDecoder().decode(verified.answer))
    // Of a lookup as documents have it.
    return { ...verified, answer: 'entry' in answer ? answer.entry : answer }
  }
  const genesisHash = await hashGenesis(genesis, crypto)
  const network = { genesis, genesisHash, crypto, sha256: platformSha256() ?? sha256 }
  const question = questionOf(request, network)
  return createCertifiedVerifier(network).verify(document, question, threshold)
}

/** Receipts, checked offline: in Node, in a browser, years later. Needs the genesis document, nothing else. */
import {
  type CanonicalRequest,
  type CryptoPort,
  createWebCrypto,
  type Genesis,
  hashGenesis,
  type Threshold,
} from '@quorumscan/consensus'
import {
  createCertifiedVerifier,
  InvalidProof,
  questionOf,
  sha256,
} from '@quorumscan/consensus/certified'
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
 * Checks a receipt of a lookup, which is a certified document.
 *
 * @param receipt - As a lookup gave it, or as it was read from JSON; the text of the document alone will do.
 * @throws {InvalidProof} If it does not prove the answer to this request.
 * @throws {RangeError} If the request is none that has receipts, or the threshold is not within f+1 to n.
 */
export async function verifyReceipt(
  receipt: unknown,
  options: VerifyReceiptOptions,
): Promise<VerifiedReceipt> {
  const { genesis, request, threshold = 'weak', crypto = createWebCrypto() } = options
  const document = typeof receipt === 'string' ? receipt : Object(receipt).document
  if (typeof document !== 'string') throw new InvalidProof('MALFORMED', 'it holds no document')
  const genesisHash = await hashGenesis(genesis, crypto)
  const network = { genesis, genesisHash, crypto, sha256: platformSha256() ?? sha256 }
  const question = questionOf(request, network)
  return createCertifiedVerifier(network).verify(document, question, threshold)
}

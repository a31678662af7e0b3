/** How this package's verifier judges a vector. It runs where there is nothing but the language and WebCrypto. */
import { createWebCrypto, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import {
  activitiesQuery,
  createCertifiedVerifier,
  queryOf,
  sha256,
} from '@quorumscan/verifier/certified'
import type { Vector } from './vector.ts'

/**
 * @param text - Of the genesis document.
 * @throws {InvalidProof | RangeError} If the document proves nothing, or the request is invalid.
 */
export async function verifyVector(text: string, vector: Vector) {
  const genesis = parseGenesis(JSON.parse(text))
  const network = { genesis, genesisHash: await hashGenesis(genesis), sha256 }
  const verifier = createCertifiedVerifier({ ...network, crypto: createWebCrypto() })
  const document =
    'document' in vector
      ? vector.document
      : Uint8Array.from(atob(vector.document_base64), (character) => character.charCodeAt(0))
  const asked = queryOf(vector.request, network)
  const stateQuery =
    'page' in asked
      ? activitiesQuery({ ...asked.page, offsetMin: vector.offset_min ?? 0 }, network)
      : asked
  return await verifier.verify(document, stateQuery, vector.signers)
}

/** Verifies a vector with the library. It needs only the language and WebCrypto. */
import { createPlatformCrypto, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import {
  activitiesQuery,
  createCertifiedVerifier,
  queryOf,
  sha256,
} from '@quorumscan/verifier/certified'
import type { Vector } from './vector.ts'

/**
 * @param text - The text of the genesis document.
 * @throws {InvalidProof | RangeError} If the document or the request is invalid.
 */
export async function verifyVector(text: string, vector: Vector) {
  const genesis = parseGenesis(JSON.parse(text))
  const network = { genesis, genesisHash: await hashGenesis(genesis), sha256 }
  const verifier = createCertifiedVerifier({ ...network, crypto: createPlatformCrypto() })
  const document =
    'document' in vector
      ? vector.document
      : Uint8Array.from(atob(vector.document_base64), (character) => character.charCodeAt(0))
  const requested = queryOf(vector.request, network)
  const stateQuery =
    'page' in requested
      ? activitiesQuery({ ...requested.page, offsetMin: vector.offset_min ?? 0 }, network)
      : requested
  return await verifier.verify(document, stateQuery, vector.signers)
}

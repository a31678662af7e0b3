/** Measures the verification of one name with a known certificate. Runs in Node and, bundled, in a page. */
import { median } from '@quorumscan/base/median'
import { createPlatformCrypto, type Genesis, hashGenesis } from '@quorumscan/verifier'
import {
  createCertifiedVerifier,
  type HashedNetwork,
  nameQuery,
  sha256,
} from '@quorumscan/verifier/certified'

export type ToVerify = {
  readonly genesis: Genesis
  readonly names: readonly string[]
  /** A document for each name, all with the same certificate. */
  readonly documents: readonly string[]
}

/** Documents per measurement, because clocks of pages have a resolution of 0.1 ms. */
const CHUNK = 50
const PASSES = 5

/**
 * The median time of chunks, in ms per document.
 *
 * @param nowMs - Elapsed time, or processor time.
 * @throws {InvalidProof} If a document is invalid.
 */
export async function verifyMs(
  { genesis, names, documents }: ToVerify,
  hash: HashedNetwork['sha256'] = sha256,
  nowMs: () => number = () => performance.now(),
): Promise<number> {
  const network = { genesis, genesisHash: await hashGenesis(genesis), sha256: hash }
  const verifier = createCertifiedVerifier({ ...network, crypto: createPlatformCrypto() })
  const pass = async (): Promise<number[]> => {
    const times: number[] = []
    for (let first = 0; first + CHUNK <= names.length; first += CHUNK) {
      const startedAt = nowMs()
      for (let index = first; index < first + CHUNK; index++)
        await verifier.verify(documents[index] ?? '', nameQuery(names[index] ?? ''), 'weak')
      times.push((nowMs() - startedAt) / CHUNK)
    }
    return times
  }
  // Warm-up: code is compiled.
  await pass()
  const times: number[] = []
  for (let count = 0; count < PASSES; count++) times.push(...(await pass()))
  return median(times)
}

/** How long a reader takes to verify one name, the certificate known. Runs in Node and, bundled, in a page. */
import { createWebCrypto, type Genesis, hashGenesis } from '@quorumscan/verifier'
import {
  createCertifiedVerifier,
  type HashedNetwork,
  nameQuery,
  sha256,
} from '@quorumscan/verifier/certified'

export type ToVerify = {
  readonly genesis: Genesis
  readonly names: readonly string[]
  /** Of each name, all with one certificate. */
  readonly documents: readonly string[]
}

/** Clocks of pages count in tenths of a millisecond. */
const CHUNK = 50
const PASSES = 5

/**
 * Of chunks the median, in ms a document.
 *
 * @param nowMs - Time that passes, or that of the processor.
 * @throws {InvalidProof} If one proves nothing.
 */
export async function verifyMs(
  { genesis, names, documents }: ToVerify,
  hash: HashedNetwork['sha256'] = sha256,
  nowMs: () => number = () => performance.now(),
): Promise<number> {
  const network = { genesis, genesisHash: await hashGenesis(genesis), sha256: hash }
  const verifier = createCertifiedVerifier({ ...network, crypto: createWebCrypto() })
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
  // Once for the compiler.
  await pass()
  const times: number[] = []
  for (let count = 0; count < PASSES; count++) times.push(...(await pass()))
  times.sort((a, b) => a - b)
  return times[times.length >> 1] ?? Number.NaN
}

/** The genesis that a program passes in: a document, or the hash that is pinned. */
import { type CryptoPort, type Genesis, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import { invalidArgument } from './errors.ts'

/**
 * A copy of the document: what was checked is what is believed, whatever the caller's object says later.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT, with the member that is wrong.
 */
export function checkedGenesis(document: unknown): Genesis {
  try {
    return parseGenesis(JSON.parse(JSON.stringify(document)))
  } catch (cause) {
    throw invalidArgument(`No genesis document: ${(cause as Error).message}`, cause)
  }
}

/** The copy with its hash. @throws {QuorumscanError} As `checkedGenesis`. */
export async function checkGenesis(
  document: unknown,
  crypto: CryptoPort,
): Promise<{ readonly genesis: Genesis; readonly genesisHash: string }> {
  const genesis = checkedGenesis(document)
  return { genesis, genesisHash: await hashGenesis(genesis, crypto) }
}

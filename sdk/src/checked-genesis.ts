/** Checks a genesis document that a program passes in. */
import { type CryptoPort, type Genesis, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import { invalidArgument } from './errors.ts'

/**
 * Returns a checked copy, so that later changes of the caller's object have no effect.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT, with the invalid member.
 */
export function parseCheckedGenesis(document: unknown): Genesis {
  try {
    return parseGenesis(JSON.parse(JSON.stringify(document)))
  } catch (cause) {
    throw invalidArgument(`This is not a genesis document: ${(cause as Error).message}`, cause)
  }
}

/** The copy with its hash. @throws {QuorumscanError} As `parseCheckedGenesis`. */
export async function checkGenesis(
  document: unknown,
  crypto: CryptoPort,
): Promise<{ readonly genesis: Genesis; readonly genesisHash: string }> {
  const genesis = parseCheckedGenesis(document)
  return { genesis, genesisHash: await hashGenesis(genesis, crypto) }
}

/** The genesis that a program passes in: a document, or the hash that is pinned. */
import { type CryptoPort, type Genesis, hashGenesis, parseGenesis } from '@quorumscan/consensus'
import { invalidArgument } from './errors.ts'

/** @throws {QuorumscanError} INVALID_ARGUMENT, with the member that is wrong. */
export function checkedGenesis(document: unknown): Genesis {
  try {
    return parseGenesis(document)
  } catch (cause) {
    throw invalidArgument(`No genesis document: ${(cause as Error).message}`, cause)
  }
}

/** Resolves with the document's hash. @throws {QuorumscanError} As `checkedGenesis`. */
export async function checkGenesis(document: unknown, crypto: CryptoPort): Promise<string> {
  return hashGenesis(checkedGenesis(document), crypto)
}

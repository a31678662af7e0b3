/** The genesis document that a program passes in. */
import { type Genesis, parseGenesis } from '@quorumscan/consensus'
import { invalidArgument } from './errors.ts'

/** @throws {QuorumscanError} INVALID_ARGUMENT, with the member that is wrong. */
export function checkedGenesis(document: unknown): Genesis {
  try {
    return parseGenesis(document)
  } catch (cause) {
    throw invalidArgument((cause as Error).message, cause)
  }
}

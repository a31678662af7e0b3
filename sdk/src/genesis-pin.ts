/** The genesis pin (option `genesis`): the hash of the genesis document, or the document. It fixes the network. */
import { failure, invalidArgument, type QuorumscanError } from './errors.ts'
import { shownValue } from './platform/shown-value.ts'

const HASH = /^[0-9a-f]{64}$/

export function isGenesisHash(genesisPin: unknown): genesisPin is string {
  return typeof genesisPin === 'string' && HASH.test(genesisPin)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if it is neither a hash nor an object. Documents are checked when used. */
export function assertGenesisPin(genesisPin: unknown): void {
  if (isGenesisHash(genesisPin) || (typeof genesisPin === 'object' && genesisPin !== null)) return
  const message = `\`genesis\` must be 64 lower-case hex digits, or a genesis document, not ${shownValue(genesisPin)}.`
  throw invalidArgument(message)
}

/** A document that was served or passed in does not have the expected hash. */
export function wrongGenesis(message: string, cause?: unknown): QuorumscanError {
  return failure('WRONG_GENESIS', message, { cause })
}

/** The option `genesis`: the hash of the genesis document, or the document. It determines which network is trusted. */
import { failure, invalidArgument, type QuorumscanError } from './errors.ts'

const HASH = /^[0-9a-f]{64}$/

export function isGenesisHash(pin: unknown): pin is string {
  return typeof pin === 'string' && HASH.test(pin)
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if it is neither a hash nor an object. Documents are checked when used. */
export function assertPin(pin: unknown): void {
  if (isGenesisHash(pin) || (typeof pin === 'object' && pin !== null)) return
  const message = '`genesis` must be a hash of 64 lower-case hex digits, or a genesis document.'
  throw invalidArgument(message)
}

/** A document that was served or passed in does not have the expected hash. */
export function wrongGenesis(message: string, cause?: unknown): QuorumscanError {
  return failure('WRONG_GENESIS', message, { cause })
}

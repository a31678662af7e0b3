/** Fully qualified party names, with the SDK's errors; `packages/verifier` has their grammar. */
import { FQPN_RULE, type Fqpn, type NetworkName, readFqpn } from '@quorumscan/verifier'
import { failure, type QuorumscanError } from '../errors.ts'

/**
 * Splits a qualified name. White space around it is removed.
 *
 * @example parseFqpn('mainnet:cns:alice.unverified.ns').resolver // 'cns'
 * @throws {QuorumscanError} INVALID_NAME, with the rule in the message and in `details.rule`.
 */
export function parseFqpn(typed: string): Fqpn {
  const read = readFqpn(String(typed).trim())
  if (read === undefined) throw invalidName(typed, FQPN_RULE)
  return read
}

/** The inverse of `parseFqpn`. @throws {QuorumscanError} INVALID_NAME if a part is invalid. */
export function formatFqpn(parts: Fqpn): string {
  if (isFqpn(parts)) return textOf(parts)
  throw invalidName(textOf(parts), FQPN_RULE)
}

/** Whether the parts make a qualified name. */
export function isFqpn(parts: Fqpn): boolean {
  const read = readFqpn(textOf(parts).trim())
  // A colon in the naming system, or white space at the end, would be read as something else.
  return read?.resolver === parts.resolver && read.name === parts.name
}

function textOf({ network, resolver, name }: Fqpn): string {
  return `${network}:${resolver}:${name}`
}

/** Whether names of this naming system can be qualified with this network. */
export function isSystem(network: NetworkName, resolver: unknown): boolean {
  return readFqpn(`${network}:${resolver}:x`)?.resolver === resolver
}

export function invalidName(name: string, rule: string): QuorumscanError {
  return failure('INVALID_NAME', `${rule}.`, { details: { name, rule } })
}

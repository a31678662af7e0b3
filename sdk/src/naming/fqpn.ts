/**
 * Fully qualified party names, `<network>:<resolver>:<name>`, as in the draft "Canton Party Name Resolution Standard" of
 * the Canton Foundation (2026-08-29).
 */
import { failure, type QuorumscanError } from '../errors.ts'

/** The networks that a qualified name can name (draft of 2026-08-29). */
export type NetworkName = 'mainnet' | 'testnet' | 'devnet' | 'localnet'

/** A qualified name in its parts. */
export type Fqpn = {
  readonly network: NetworkName
  /** The naming system: `cns`, `dns`, `lei`, `party-id`. Only it reads the name. */
  readonly resolver: string
  /** Printable ASCII without white space. May contain colons. */
  readonly name: string
}

/** The naming system of party identifiers. Its names resolve to themselves on every network (draft of 2026-08-29). */
export const PARTY_ID = 'party-id'

/** Longer than a party identifier with its prefix. The draft has no limit; this one bounds what a request carries. */
const FQPN_LENGTH_MAX = 512
const FQPN = /^(mainnet|testnet|devnet|localnet):([a-z][a-z0-9-]{0,31}):([!-~]+)$/
const RULE = `A qualified name has at most ${FQPN_LENGTH_MAX} characters: mainnet, testnet, devnet or localnet, a naming system such as cns, and a name in printable ASCII, as in mainnet:cns:alice.unverified.ns`

/**
 * Splits a qualified name. White space around it is removed.
 *
 * @example parseFqpn('mainnet:cns:alice.unverified.ns').resolver // 'cns'
 * @throws {QuorumscanError} INVALID_NAME, with the rule in the message and in `details.rule`.
 */
export function parseFqpn(typed: string): Fqpn {
  const text = String(typed).trim()
  const [, network, resolver, name] = FQPN.exec(text) ?? []
  if (name === undefined || text.length > FQPN_LENGTH_MAX) throw invalidName(typed, RULE)
  return { network, resolver, name } as Fqpn // The expression has the networks.
}

/** The inverse of `parseFqpn`. @throws {QuorumscanError} INVALID_NAME if a part is invalid. */
export function formatFqpn({ network, resolver, name }: Fqpn): string {
  const text = `${network}:${resolver}:${name}`
  const read = parseFqpn(text)
  // A colon in the naming system, or white space at the end, would be read as something else.
  if (read.resolver !== resolver || read.name !== name) throw invalidName(text, RULE)
  return text
}

/** Whether the text starts like a qualified name. The text of a party identifier does not. */
export function isQualified(text: string): boolean {
  return /^(mainnet|testnet|devnet|localnet):(?!:)/.test(text)
}

/** Whether names of this naming system can be qualified with this network. */
export function isSystem(network: NetworkName, resolver: unknown): boolean {
  return FQPN.exec(`${network}:${resolver}:x`)?.[2] === resolver
}

export function invalidName(name: string, rule: string): QuorumscanError {
  return failure('INVALID_NAME', `${rule}.`, { details: { name, rule } })
}

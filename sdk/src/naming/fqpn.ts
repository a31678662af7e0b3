/**
 * Fully qualified party names, `<network>:<resolver>:<name>`, as in the draft "Canton Party Name Resolution Standard" of
 * the Canton Foundation (2026-08-29).
 */
import { failure, type QuorumscanError } from '../errors.ts'

/** The networks that a qualified name can name (draft of 2026-08-29). */
const NETWORKS = ['mainnet', 'testnet', 'devnet', 'localnet'] as const
export type NetworkName = (typeof NETWORKS)[number]

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
const RESOLVER = /^[a-z][a-z0-9-]{0,31}$/
const NAME = /^[!-~]+$/

/**
 * Splits a qualified name. White space around it is removed.
 *
 * @example parseFqpn('mainnet:cns:alice.unverified.ns').resolver // 'cns'
 * @throws {QuorumscanError} INVALID_NAME, with the rule in the message and in `details.rule`.
 */
export function parseFqpn(typed: string): Fqpn {
  const text = String(typed).trim()
  const [network = '', resolver = '', ...rest] = text.split(':')
  const parts = { network, resolver, name: rest.join(':') }
  const rule = brokenRule(parts)
  if (rule !== null) throw invalidName(typed, rule)
  return parts as Fqpn // The network is one of the list.
}

/** The inverse of `parseFqpn`. @throws {QuorumscanError} INVALID_NAME if a part is invalid. */
export function formatFqpn(parts: Fqpn): string {
  const text = `${parts.network}:${parts.resolver}:${parts.name}`
  const rule = brokenRule(parts)
  if (rule !== null) throw invalidName(text, rule)
  return text
}

/** Whether the text starts like a qualified name. The text of a party identifier does not. */
export function isQualified(text: string): boolean {
  return NETWORKS.some(
    (network) => text.startsWith(`${network}:`) && text[network.length + 1] !== ':',
  )
}

export function isNetworkName(text: unknown): text is NetworkName {
  return NETWORKS.some((network) => network === text)
}

export function isResolverId(text: unknown): boolean {
  return typeof text === 'string' && RESOLVER.test(text)
}

function brokenRule({ network, resolver, name }: Record<keyof Fqpn, string>): string | null {
  if (!isNetworkName(network)) return `A qualified name starts with ${NETWORKS.join(', ')} and ":"`
  if (!isResolverId(resolver))
    return 'The second part of a qualified name is a naming system, such as cns: at most 32 of a-z, 0-9 and "-"'
  if (!NAME.test(name))
    return 'The name after the second ":" is printable ASCII without white space'
  const length = network.length + resolver.length + name.length + 2
  return length > FQPN_LENGTH_MAX
    ? `A qualified name has at most ${FQPN_LENGTH_MAX} characters`
    : null
}

export function invalidName(name: string, rule: string): QuorumscanError {
  return failure('INVALID_NAME', `${rule}.`, { details: { name, rule } })
}

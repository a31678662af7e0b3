/**
 * Party names as the draft "Canton Party Name Resolution Standard" of the Canton Foundation (2026-08-29) writes them:
 * `<network>:<resolver>:<name>`. The SDK and the scan proxy share this grammar.
 */

/** The networks that a qualified name can name (draft of 2026-08-29). */
export const NETWORK_NAMES = ['mainnet', 'testnet', 'devnet', 'localnet'] as const
/** One of the networks that a qualified name can name. */
export type NetworkName = (typeof NETWORK_NAMES)[number]

/** A qualified name in its parts. */
export type Fqpn = {
  readonly network: NetworkName
  /** The naming system: `cns`, `dns`, `lei`, `party-id`. Only it reads the name. */
  readonly resolver: string
  /** Printable ASCII without white space. May contain colons. */
  readonly name: string
}

/** The naming system of the network's name service: names of `/v0/ans-entries`, unchanged (draft of 2026-08-29). */
export const CNS = 'cns'
/** The naming system of party identifiers. Its names resolve to themselves on every network (draft of 2026-08-29). */
export const PARTY_ID = 'party-id'

/** Longer than a party identifier with its prefix. The draft has no limit; this one bounds what a request carries. */
export const FQPN_LENGTH_MAX = 512
const FQPN = /^(mainnet|testnet|devnet|localnet):([a-z][a-z0-9-]{0,31}):([!-~]+)$/
export const FQPN_RULE = `A qualified name has at most ${FQPN_LENGTH_MAX} characters: mainnet, testnet, devnet or localnet, a naming system such as cns, and a name in printable ASCII, as in mainnet:cns:alice.unverified.ns`

/** Splits a qualified name; undefined if the text is not one. */
export function readFqpn(text: string): Fqpn | undefined {
  const [, network, resolver, name] = FQPN.exec(text) ?? []
  if (name === undefined || text.length > FQPN_LENGTH_MAX) return undefined
  return { network, resolver, name } as Fqpn // The expression has the networks.
}

/** Whether the text starts like a qualified name. The text of a party identifier does not. */
export function isQualified(text: string): boolean {
  return /^(mainnet|testnet|devnet|localnet):(?!:)/.test(text)
}

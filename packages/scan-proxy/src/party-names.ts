/** Party names in the form of the draft standard (D-76): a request as a lookup, an entry as a result. Pure. */
import type { ResponseOf, validatorRoutes } from '@quorumscan/api'
import { fromUtf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { isPartyId } from '@quorumscan/model'
import {
  ASKED_NAME_LENGTH_MAX,
  CNS,
  FQPN_RULE,
  isQualified,
  type NetworkName,
  PARTY_ID,
  readFqpn,
  utf8,
} from '@quorumscan/verifier'

type PartyName = ResponseOf<typeof validatorRoutes.proxyResolve>

/** @throws {ScanError} INVALID_ARGUMENT for another network or naming system, and a malformed name. */
export function readOfName(
  query: { readonly name: string; readonly network: NetworkName },
  own: NetworkName,
) {
  assertOwnNetwork(query.network, own)
  const { network, resolver, name } = partsOf(query.name, own)
  assertOwnNetwork(network, own)
  if (name.length > ASKED_NAME_LENGTH_MAX)
    throw invalid('name', `A name has at most ${ASKED_NAME_LENGTH_MAX} characters.`)
  if (resolver === CNS) return { lookup: { name } }
  if (resolver !== PARTY_ID || !isPartyId(name))
    throw invalid('name', `This service has names of ${CNS}, and parties as names of ${PARTY_ID}.`)
  const fqpn = `${own}:${PARTY_ID}:${name}`
  return { known: utf8(JSON.stringify({ fqpn, party_id: name, display_name: name })) }
}

/** @throws {ScanError} INVALID_ARGUMENT. */
export function assertOwnNetwork(network: NetworkName, own: NetworkName): void {
  if (network !== own)
    throw invalid('network', `This service has names of ${own}, not of ${network}.`)
}

/** @param answer - Has an entry. */
export function partyNameOf(answer: Uint8Array, network: NetworkName): PartyName {
  const { entry }: ResponseOf<typeof validatorRoutes.proxyGetEntryByName> = JSON.parse(
    fromUtf8(answer),
  )
  const { name, user, expires_at: end } = entry
  const result = { fqpn: `${network}:${CNS}:${name}`, party_id: user, display_name: name }
  return end === null ? result : { ...result, valid_until: end }
}

/** A text that is not qualified is a party or a name of `cns`. */
function partsOf(name: string, network: NetworkName) {
  if (!isQualified(name)) return { network, resolver: isPartyId(name) ? PARTY_ID : CNS, name }
  const parts = readFqpn(name)
  if (parts === undefined) throw invalid('name', `${FQPN_RULE}.`)
  return parts
}

function invalid(member: string, rule: string): ScanError {
  return new ScanError('INVALID_ARGUMENT', rule, { details: { path: `query.${member}`, rule } })
}

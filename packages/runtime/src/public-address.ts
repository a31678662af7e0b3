import ipaddr from 'ipaddr.js'

/** Of these IANA assigns global addresses. ipaddr.js takes the rest, as `::10.0.0.1`, for global where it has no name. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address belongs to no range that is reserved for private networks, this machine, documentation or
 * protocols. Addresses that embed an IPv4 address (mapped, 6to4, Teredo, NAT64) are refused: their route may lead
 * into a private network. `parseNodeUrl` judges the addresses in URLs alike.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_IPV6)) return false
  return parsed.range() === 'unicast'
}

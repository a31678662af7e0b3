/** Who counts as one client (D-33): an IPv4 address, or the /64 of an IPv6 address. */
import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)$/i
const GROUPS = 8
const NETWORK_GROUPS = 4

/** `address` is what the socket says; undefined on a unix socket. */
export function clientKey(address: string | undefined): string {
  if (address === undefined) return 'local'
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const withoutZone = address.split('%', 1)[0] ?? ''
  return isIPv6(withoutZone) ? network(withoutZone) : address
}

function network(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - left.length - right.length)
  const groups = [...left, ...new Array<string>(zeros).fill('0'), ...right]
  return `${groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}

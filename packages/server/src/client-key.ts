/**
 * Who counts as one client (D-33): an IPv4 address, or the /64 of an IPv6 address; and who as one network: the
 * /48 that a provider gives to whoever asks, with 65 536 clients.
 */
import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)$/i
const GROUPS = 8
const GROUP_BITS = 16

/** `address` is what the socket says; undefined on a unix socket. */
export function clientKey(address: string | undefined): string {
  return keyOf(address, 64)
}

/** As `clientKey`; an IPv4 address is a network of its own. */
export function networkKey(address: string | undefined): string {
  return keyOf(address, 48)
}

function keyOf(address: string | undefined, prefixBits: number): string {
  if (address === undefined) return 'local'
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const withoutZone = address.split('%', 1)[0] ?? ''
  return isIPv6(withoutZone) ? prefixOf(withoutZone, prefixBits) : address
}

function prefixOf(address: string, bits: number): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - left.length - right.length)
  const groups = [...left, ...new Array<string>(zeros).fill('0'), ...right]
  return `${groups
    .slice(0, bits / GROUP_BITS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/${bits}`
}

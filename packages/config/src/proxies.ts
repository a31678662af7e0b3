/** Which reverse proxies are trusted, and which header they set. */
import { BlockList, isIP } from 'node:net'

/** One of them, by configuration: a proxy writes one and passes the other on as its client sent it. */
export const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded'] as const

export type ProxiesConfig = {
  /** Addresses, or networks such as `10.0.0.0/8`, of proxies. */
  readonly trusted: readonly string[]
  /** In which they tell for whom they ask. */
  readonly header: (typeof FORWARDED_HEADERS)[number]
}

/** Addresses and networks, separated by commas. @throws {RangeError} If an item is neither an address nor a network. */
export function parseProxies(text: string): readonly string[] {
  const items = text.split(',').filter(Boolean)
  for (const item of items) addTo(new BlockList(), item)
  return items
}

/** @throws {RangeError} If the item is neither an address nor a network. */
export function addTo(list: BlockList, item: string): void {
  const [address = '', prefix, ...rest] = item.split('/')
  const family = familyOf(address)
  const bits = prefix ?? (family === 'ipv4' ? '32' : '128')
  const isNetwork = isIP(address) !== 0 && /^[0-9]{1,3}$/.test(bits) && rest.length === 0
  if (!isNetwork || Number(bits) > (family === 'ipv4' ? 32 : 128))
    throw new RangeError(`${JSON.stringify(item)} is no address, nor a network such as 10.0.0.0/8`)
  list.addSubnet(address, Number(bits), family)
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

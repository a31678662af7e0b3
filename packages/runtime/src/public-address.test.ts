import { parseNodeUrl } from '@quorumscan/reader'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, it } from 'vitest'
import { isPublicAddress } from './undici-transport.ts'

it.each([
  ['8.8.8.8', 'public'],
  ['2001:4860:4860::8888', 'public'],
  ['2606:4700:4700::1111', 'public'],
  ['127.0.0.1', 'loopback'],
  ['10.0.0.7', 'private'],
  ['169.254.169.254', 'link-local'],
  ['100.64.0.1', 'shared by a carrier'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['240.0.0.1', 'reserved'],
  ['::1', 'loopback'],
  ['::', 'unspecified'],
  ['::ffff:10.0.0.1', 'mapped'],
  ['::10.0.0.1', 'compatible'],
  ['64:ff9b::10.0.0.1', 'NAT64'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['FD00::1', 'unique local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['100::1', 'discard'],
  ['2002:a00:1::1', '6to4 of 10.0.0.1'],
  ['2001:0:a00:1::1', 'Teredo'],
  ['2001:20::1', 'ORCHID'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['', 'no address'],
  ['sv-1.example.com', 'no address'],
])('%s is %s, and taken only if it is public', (address, what) => {
  expect(isPublicAddress(address)).toBe(what === 'public')
})

/** First groups of ranges with a meaning, and of their neighbors. */
const PREFIXES = [
  '0',
  '64:ff9b',
  '64:ff9b:1',
  '100',
  '1fff',
  '2000',
  '2001',
  '2001:0',
  '2001:1ff',
  '2001:200',
  '2001:2',
  '2001:3',
  '2001:4:112',
  '2001:10',
  '2001:db7',
  '2001:db8',
  '2001:db9',
  '2001:4860',
  '2002',
  '2003',
  '2620:4f',
  '2620:4f:8000',
  '2620:4f:8001',
  '3ffe',
  '3fff',
  '3fff:fff',
  '3fff:1000',
  '4000',
  '5f00',
  'fbff',
  'fc00',
  'fdff',
  'fe80',
  'febf',
  'fec0',
  'feff',
  'ff02',
]
const ipv6 = fc
  .tuple(
    fc.constantFrom(...PREFIXES),
    fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 0xffff })), { minLength: 8, maxLength: 8 }),
  )
  .map(([prefix, rest]) => {
    const groups = prefix.split(':')
    return [...groups, ...rest.slice(groups.length).map((group) => group.toString(16))].join(':')
  })
const FIRST_OCTETS = [
  0, 1, 8, 9, 10, 11, 99, 100, 101, 126, 127, 128, 169, 172, 192, 198, 203, 223, 224,
]
const SECOND_OCTETS = [
  0, 2, 15, 16, 17, 18, 19, 20, 31, 32, 51, 52, 63, 64, 88, 127, 128, 168, 175, 254,
]
const THIRD_OCTETS = [0, 1, 2, 48, 99, 100, 113, 193, 196]
const octet = (known: readonly number[]) =>
  fc.oneof(fc.constantFrom(...known), fc.nat({ max: 255 }))
const ipv4 = fc
  .tuple(octet(FIRST_OCTETS), octet(SECOND_OCTETS), octet(THIRD_OCTETS), octet([0, 1, 255]))
  .map((octets) => octets.join('.'))

/** Reverse lookups and tunnels of multicast have addresses of their own, behind which no private network is. */
const NO_NODES = /^(?:as112|amt)/

// The SDK has no room for the library, so that `parseNodeUrl` has two expressions instead.
it('parseNodeUrl treats the address in a URL in the same way', () => {
  const agrees = (address: string, host: string) => {
    if (NO_NODES.test(ipaddr.parse(address).range())) return
    const isTaken = parseNodeUrl(`http://${host}:4600`, false) !== undefined
    expect(isTaken, address).toBe(isPublicAddress(address))
  }
  fc.assert(
    fc.property(ipv6, (address) => agrees(address, `[${address}]`)),
    { numRuns: 20_000 },
  )
  fc.assert(
    fc.property(ipv4, (address) => agrees(address, address)),
    { numRuns: 20_000 },
  )
})

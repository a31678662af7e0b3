import { parseProxies } from '@quorumscan/config'
import { expect, it } from 'vitest'
import { createClientAddresses } from './client-address.ts'

const trusted = ['10.0.0.0/8', '192.0.2.7', '2001:db8:ffff::/48']
const at = createClientAddresses({ trusted, header: 'x-forwarded-for' })
const byRfc = createClientAddresses({ trusted, header: 'forwarded' })
const PROXY = '10.0.0.1'

/** Where a request comes from, by the socket and both headers. */
const from = (remoteAddress: string | undefined, headers: Record<string, string>, resolver = at) =>
  resolver.addressOf({ socket: { remoteAddress }, headers })

it('ignores headers of connections that are not of a trusted proxy', () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
  for (const address of ['198.51.100.1', '11.0.0.1', '192.0.2.8', '2001:db8::1', undefined])
    for (const resolver of [at, byRfc]) expect(from(address, headers, resolver)).toBe(address)
  const none = createClientAddresses({ trusted: [], header: 'x-forwarded-for' })
  expect(from(PROXY, headers, none)).toBe(PROXY)
})

it.each([
  ['203.0.113.9', '203.0.113.9'],
  // Whatever its client sent stands to the left of what the proxy added.
  ['127.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['"x, 203.0.113.9', '203.0.113.9'],
  [`${'1.2.3.4, '.repeat(50)}203.0.113.9`, '203.0.113.9'],
  // A chain of proxies.
  ['198.51.100.1,203.0.113.9 , 192.0.2.7,10.9.9.9', '203.0.113.9'],
  ['203.0.113.9, 2001:db8:ffff:1::1', '203.0.113.9'],
  // Only proxies: the farthest one counts as the client.
  ['10.1.1.1, 10.2.2.2', '10.1.1.1'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['2001:db8:1:2::3', '2001:db8:1:2::3'],
  ['[2001:db8:1:2::3]:4711', '2001:db8:1:2::3'],
  // A value that is no address is ignored, with everything to its left.
  ['', PROXY],
  ['203.0.113.9, ', PROXY],
  ['203.0.113.9, unknown', PROXY],
  ['203.0.113.9, 1.2.3', PROXY],
  ['203.0.113.9, 1.2.3.4.5', PROXY],
  ['203.0.113.9, unknown, 10.2.2.2', '10.2.2.2'],
])('X-Forwarded-For %j comes from %s', (value, address) => {
  expect(from(PROXY, { 'x-forwarded-for': value })).toBe(address)
})

it.each([
  ['for=203.0.113.9', '203.0.113.9'],
  ['for=127.0.0.1;proto=https, proto=https; For="203.0.113.9:4711";by=_x', '203.0.113.9'],
  ['for="[2001:db8:1:2::3]:4711"', '2001:db8:1:2::3'],
  ['for=203.0.113.9;host="a, b", for=10.2.2.2;host="a,for=1.2.3.4"', '203.0.113.9'],
  // A quotation that its client left open takes nothing of what the proxy added.
  ['for="127.0.0.1, for=203.0.113.9', '203.0.113.9'],
  ['for=203.0.113.9, for=_hidden', PROXY],
  ['for=203.0.113.9, for=unknown', PROXY],
  ['for=203.0.113.9, proto=https', PROXY],
  ['203.0.113.9', PROXY],
])('Forwarded %j comes from %s', (value, address) => {
  expect(from(PROXY, { forwarded: value, 'x-forwarded-for': '1.2.3.4' }, byRfc)).toBe(address)
})

it('only the one header counts: a proxy passes the other on as its client sent it', () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=198.51.100.1' }
  expect(from(PROXY, headers)).toBe('203.0.113.9')
  expect(from(PROXY, headers, byRfc)).toBe('198.51.100.1')
})

it.each([
  ['10.255.0.1', true],
  ['::ffff:10.0.0.1', true],
  ['2001:DB8:FFFF:0:1::2', true],
  ['fe80::1%eth0', false],
  ['192.0.2.6', false],
])('%s is a proxy: %s', (address, isProxy) => {
  expect(at.isProxy(address)).toBe(isProxy)
})

it.each(['localhost', '10.0.0.0/33', '10.0.0/8', '::1/129', '10.0.0.0/8/8', '10.0.0.0/', '/8'])(
  '%s is neither address nor network',
  (item) => {
    expect(() => parseProxies(`127.0.0.1,${item}`)).toThrow(JSON.stringify(item))
  },
)

it('a header of very many items is parsed quickly', () => {
  const value = `${','.repeat(16_000)}"`.repeat(2)
  expect(from(PROXY, { forwarded: value }, byRfc)).toBe(PROXY)
})

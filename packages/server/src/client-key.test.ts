import { expect, it } from 'vitest'
import { clientKey, networkKey } from './client-key.ts'

it.each([
  [undefined, 'local'],
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
])('%s counts as %s', (address, key) => {
  expect(clientKey(address)).toBe(key)
})

it('networks are addresses of IPv4, and what a provider gives away of IPv6', () => {
  expect(networkKey('::ffff:10.1.2.3')).toBe('10.1.2.3')
  expect(networkKey('2001:0DB8:1:2:ffff::1')).toBe('2001:db8:1::/48')
})

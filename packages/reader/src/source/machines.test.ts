import { expect, it } from 'vitest'
import { platformResolver, type ResolveHost, resolveMachines } from './machines.ts'
import { machineOf } from './node-url.ts'

const never = new AbortController().signal
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'a.example': ['203.0.113.1', '2001:db8::1'],
  'b.example': ['203.0.113.2', '2001:db8:0:1::1'],
  'also-a.example': ['2001:DB8:0::1'],
  'mapped-a.example': ['::ffff:203.0.113.1'],
  'a-and-b.example': ['203.0.113.1', '203.0.113.2'],
  'own.example': ['127.0.0.1'],
  'own-6.example': ['::1'],
  'own-mapped.example': ['::ffff:127.0.0.1'],
  'own-2.example': ['127.0.0.2'],
  'anywhere.example': ['0.0.0.0'],
}
const resolve: ResolveHost = async (host) => {
  const found = HOSTS[host] ?? (/^[\d.]+$|:/.test(host) ? [host] : null)
  if (found === null) throw new Error(`ENOTFOUND ${host}`)
  return found
}
const countOf = async (urls: readonly string[]) =>
  new Set(await resolveMachines(urls, { resolve, signal: never })).size

it.each([
  [1, ['https://a.example', 'https://also-a.example', 'https://a.example:8443/x']],
  [1, ['https://a.example', 'https://mapped-a.example', 'https://203.0.113.1']],
  [1, ['https://a.example.', 'https://0xcb007101', 'https://[::ffff:203.0.113.1]']],
  [1, ['https://[2001:db8:0:0::1]', 'https://a.example']],
  [
    1,
    ['https://[2001:db8::1]', 'https://[2001:db8::ffff:2:3:4]', 'https://[2001:db8:0:0:5:6:7:8]'],
  ],
  [2, ['https://[2001:db8:0:0::1]', 'https://[2001:db8:0:1::1]']],
  [1, ['https://[::5:6:7:8]', 'https://[0:0:0:0:1::]']],
  [2, ['https://[1:2:3:4::]', 'https://[1:2:3:5::]']],
  [1, ['https://[64:ff9b::203.0.113.1]', 'https://203.0.113.1']],
  [2, ['https://[64:ff9b::203.0.113.1]', 'https://[64:ff9b::203.0.113.2]']],
  [2, ['https://[64:ff9b:1::203.0.113.1]', 'https://[64:ff9b:1::203.0.113.2]']],
  [2, ['https://a.example', 'https://b.example', 'https://also-a.example']],
  [1, ['https://a.example', 'https://b.example', 'https://a-and-b.example']],
  [1, ['https://a-and-b.example', 'https://a.example', 'https://b.example']],
  [1, ['https://own.example:7', 'https://own-6.example:7', 'http://localhost:7', 'http://[::]:7']],
  [1, ['https://own-mapped.example:7', 'https://own-2.example:7', 'https://anywhere.example:7']],
  [2, ['https://own.example:7', 'https://own-6.example:8']],
  [1, ['https://own.example', 'http://localhost:443']],
  [2, ['https://nowhere.example', 'https://nowhere-else.example']],
  [1, ['https://nowhere.example', 'https://NOWHERE.example.:7/x']],
])('%i machines: %j', async (count, urls) => {
  expect(await countOf(urls)).toBe(count)
  expect(await countOf(urls.toReversed())).toBe(count)
})

it('a host without an address, or whose address is late, is known by its name', async () => {
  const urls = ['https://a.example', 'https://nowhere.example']
  expect(await resolveMachines(urls, { resolve, signal: never })).toEqual(urls.map(machineOf))
  const late = new AbortController()
  const found = resolveMachines(urls, { resolve: () => new Promise(() => {}), signal: late.signal })
  late.abort()
  expect(await found).toEqual(urls.map(machineOf))
  const { signal } = late
  expect(await resolveMachines(urls, { resolve, signal })).toEqual(urls.map(machineOf))
  expect(await resolveMachines(urls, { resolve: null, signal: never })).toEqual(urls.map(machineOf))
})

it('Node.js resolves names', async () => {
  const addresses = (await platformResolver()?.('localhost')) ?? []
  expect(addresses.length).toBeGreaterThan(0)
  for (const one of addresses) expect(['127.0.0.1', '::1']).toContain(one)
})

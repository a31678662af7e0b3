import { parseOriginTokens, parsePeerTokens } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createClients, keysOf } from './client.ts'
import { createClientAddresses } from './client-address.ts'

const clientAddresses = createClientAddresses({
  trusted: ['10.0.0.0/8'],
  header: 'x-forwarded-for',
})
const TOKEN = 'a-token-of-22-letters_'
const request = (token?: string) => ({
  socket: { remoteAddress: '192.0.2.1' },
  headers: token === undefined ? {} : { 'x-peer-token': token },
})

it('a peer token has a budget of its own, far above that of an address', () => {
  const { of: clientOf } = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 1, peerTokens: [TOKEN] },
    clock: createManualClock(),
  })
  const stranger = clientOf(request())
  const peer = clientOf(request(TOKEN))
  stranger.spend(1)
  expect(() => stranger.spend(1)).toThrow('too much work')
  peer.spend(100_000)
  expect(() => peer.spend(1)).toThrow('too much work')
})

it('all clients of an IPv6 /48 together have twice what one has', () => {
  const { of: clientOf } = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 10 },
    clock: createManualClock(),
  })
  const at = (remoteAddress: string) => clientOf({ socket: { remoteAddress }, headers: {} })
  at('2001:db8:1:1::1').spend(10)
  expect(() => at('2001:db8:1:1::2').spend(1)).toThrow('too much work')
  at('2001:db8:1:2::1').spend(4)
  at('2001:db8:1:2::1').charge(6)
  expect(() => at('2001:db8:1:3::1').spend(1)).toThrow('too much work')
  at('2001:db8:2:1::1').spend(10)
  at('192.0.2.1').spend(10)
})

it('a connection with another token is another client', () => {
  const { of: clientOf } = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 1, peerTokens: [TOKEN] },
    clock: createManualClock(),
  })
  const [{ socket, headers: none }, { headers: shown }] = [request(), request(TOKEN)]
  const keys = [none, shown, shown, none].map((headers) => clientOf({ socket, headers }).key)
  const peer = expect.stringMatching(/^peer [0-9a-f]{16}$/)
  expect(keys).toEqual(['192.0.2.1', peer, peer, '192.0.2.1'])
})

it('a token that is added makes a peer, and one that is removed no longer does, on one connection', () => {
  const rateLimit = { unitsPerSecond: 1, peerTokens: [] as string[] }
  const { of } = createClients({ clientAddresses, rateLimit, clock: createManualClock() })
  const shown = request(TOKEN)
  expect(of(shown)).toMatchObject({ key: '192.0.2.1', isPeer: false })
  rateLimit.peerTokens = [`${TOKEN}x`, TOKEN]
  const peer = of(shown)
  expect(peer.isPeer).toBe(true)
  // Its name does not depend on other tokens.
  rateLimit.peerTokens = [TOKEN]
  expect(of(shown)).toMatchObject({ key: peer.key, isPeer: true })
  rateLimit.peerTokens = []
  expect(peer.isPeer).toBe(false)
  expect(of(shown)).toMatchObject({ key: '192.0.2.1', isPeer: false })
})

it('a client with a wrong token is no peer', () => {
  const { of: clientOf } = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 1, peerTokens: [TOKEN] },
    clock: createManualClock(),
  })
  for (const token of [TOKEN.toUpperCase(), `${TOKEN}x`, '', 'x'])
    expect(clientOf(request(token))).toMatchObject({ key: '192.0.2.1', isPeer: false })
})

it('token files are read, and a bad line is named without showing it', () => {
  expect(parsePeerTokens(`# wallets\n\n${TOKEN}\r\n`)).toEqual([TOKEN])
  expect(() => parsePeerTokens(`${TOKEN}\nshort`)).toThrow(/^line 2 is not of the form 22 to 128/)
  expect(parseOriginTokens(`https://sv-1.example/ ${TOKEN}`)).toEqual(
    new Map([['https://sv-1.example', TOKEN]]),
  )
  for (const line of [TOKEN, `https://a ${TOKEN} x`, 'https://a short', `nowhere ${TOKEN}`])
    expect(() => parseOriginTokens(line)).toThrow('line 1 is not of the form <origin> <token>')
})

it('the clients of a proxy are those that its header names, on one connection', () => {
  const { of: clientOf } = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 1, peerTokens: [TOKEN] },
    clock: createManualClock(),
  })
  const socket = { remoteAddress: '10.0.0.1' }
  const of = (client: string, token?: string) =>
    clientOf({ socket, headers: { ...request(token).headers, 'x-forwarded-for': client } })
  of('192.0.2.1').spend(1)
  of('192.0.2.2').spend(1)
  expect(() => of('192.0.2.1').spend(1)).toThrow('too much work')
  expect(of('192.0.2.1', TOKEN)).toMatchObject({ isPeer: true, address: '192.0.2.1' })
})

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
  expect(keysOf(address).client).toBe(key)
})

it('a network is an IPv4 address, or the /48 of an IPv6 address', () => {
  expect(keysOf('::ffff:10.1.2.3').network).toBe('10.1.2.3')
  expect(keysOf('2001:0DB8:1:2:ffff::1').network).toBe('2001:db8:1::/48')
})

it('a TLS handshake costs units of its address, except for a proxy', () => {
  const clients = createClients({
    clientAddresses,
    rateLimit: { unitsPerSecond: 4 },
    clock: createManualClock(),
  })
  const handshakes = (address: string) => [1, 2, 3].map(() => clients.admitHandshake(address))
  expect(handshakes('192.0.2.1')).toEqual([true, true, false])
  expect(() => clients.of(request()).spend(1)).toThrow('too much work')
  expect(handshakes('10.0.0.1')).toEqual([true, true, true])
})

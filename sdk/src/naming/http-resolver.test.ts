import nock from 'nock'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseParty } from '../platform/parse-party.ts'
import { httpResolver } from './http-resolver.ts'

const URL = 'https://resolver.test'
const ALICE = parseParty(`alice::1220${'a'.repeat(64)}`)
const NAME = 'alice.example'
const READ = { network: 'mainnet', timeoutMs: 10_000 } as const
const RESULT = { fqpn: `mainnet:dns:${NAME}`, party_id: ALICE, display_name: 'Alice Ltd' }
const resolver = httpResolver({ id: 'dns', url: `${URL}/`, skip: [/\.ns$/g] })

const serve = (status: number, body: nock.Body, path = '/v0/resolve') =>
  nock(URL).get(path).query(true).reply(status, body)

beforeEach(() => nock.disableNetConnect())
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
  nock.enableNetConnect()
})

describe('a resolver over HTTP', () => {
  it('sends name and network, and returns a claim', async () => {
    const query = { name: NAME, network: 'mainnet' }
    nock(URL)
      .get('/v0/resolve')
      .query(query)
      .reply(200, { ...RESULT, valid_until: '2026-12-01T00:00:00+01:00' })
    expect(await resolver.resolve(NAME, READ)).toEqual({
      basis: 'claimed',
      found: {
        name: NAME,
        party: ALICE,
        displayName: 'Alice Ltd',
        validUntil: '2026-11-30T23:00:00.000Z',
        changed: null,
        receipt: null,
      },
    })
  })

  it('a 404 is absence', async () => {
    serve(404, { error: 'unknown' })
    expect(await resolver.resolve(NAME, READ)).toEqual({ basis: 'claimed', found: null })
  })

  it.each<[string, number, nock.Body]>([
    ['another status', 500, RESULT],
    ['no JSON', 200, '{'],
    ['a list', 200, [RESULT]],
    ['another network', 200, { ...RESULT, fqpn: `testnet:dns:${NAME}` }],
    ['another naming system', 200, { ...RESULT, fqpn: `mainnet:cns:${NAME}` }],
    ['another name', 200, { ...RESULT, fqpn: 'mainnet:dns:bob.example' }],
    ['a text that is not a party', 200, { ...RESULT, party_id: 'alice' }],
    ['a display name that is too long', 200, { ...RESULT, display_name: 'a'.repeat(201) }],
    ['an end that is not a time', 200, { ...RESULT, valid_until: 'soon' }],
    ['a redirect', 302, RESULT],
    ['a body that is too large', 200, { ...RESULT, metadata: { note: 'a'.repeat(70_000) } }],
  ])('refuses %s', async (_, status, body) => {
    serve(status, body)
    await expect(resolver.resolve(NAME, READ)).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  it('gives up at the deadline', async () => {
    nock(URL).get('/v0/resolve').query(true).delayConnection(60_000).reply(200, RESULT)
    const resolving = resolver.resolve(NAME, { ...READ, timeoutMs: 1 })
    await expect(resolving).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('names of a party that do not lead back are left out', async () => {
    const other = { ...RESULT, fqpn: 'mainnet:dns:bob.example' }
    nock(URL).get('/v0/reverse-resolve').query(true).reply(200, [RESULT, other])
    nock(URL).get('/v0/resolve').query({ name: NAME, network: 'mainnet' }).reply(200, RESULT)
    nock(URL)
      .get('/v0/resolve')
      .query({ name: 'bob.example', network: 'mainnet' })
      .reply(200, { ...other, party_id: `bob::1220${'b'.repeat(64)}` })
    const names = await resolver.reverse(ALICE, READ)
    expect(names.map(({ name }) => name)).toEqual([NAME])
  })

  it('a row that cannot be used, or whose name cannot be looked up, hides no other one', async () => {
    const odd = { ...RESULT, fqpn: `testnet:dns:${NAME}` }
    const dead = { ...RESULT, fqpn: 'mainnet:dns:bob.example' }
    const list = (...rows: readonly object[]) =>
      nock(URL)
        .get('/v0/reverse-resolve')
        .query(true)
        .reply(200, [...rows])
    const name = (name: string) => nock(URL).get('/v0/resolve').query({ name, network: 'mainnet' })
    list(odd, dead, RESULT)
    name('bob.example').reply(500)
    name(NAME).reply(200, RESULT)
    const names = await resolver.reverse(ALICE, READ)
    expect(names.map(({ name }) => name)).toEqual([NAME])
    list(odd)
    await expect(resolver.reverse(ALICE, READ)).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  it('skips unqualified names by pattern, each time', () => {
    expect([1, 2].map(() => resolver.accepts('alice.unverified.ns'))).toEqual([false, false])
    expect(resolver.accepts(NAME)).toBe(true)
  })

  it('takes https only, but for this machine', () => {
    expect(() => httpResolver({ id: 'dns', url: 'http://resolver.test' })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
    expect(httpResolver({ id: 'dns', url: 'http://127.0.0.1:4000' }).id).toBe('dns')
  })
})

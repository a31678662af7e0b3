import { describe, expect, it } from 'vitest'
import { partyNameOf, readOfName } from './party-names.ts'

const ALICE = `alice::1220${'a'.repeat(64)}`
const NAME = 'alice.unverified.ns'
const read = (name: string, network: 'localnet' | 'mainnet' = 'localnet') =>
  readOfName({ name, network }, 'localnet')

describe('a request for a name', () => {
  it.each([
    [NAME, NAME],
    [`localnet:cns:${NAME}`, NAME],
    ['localnet:cns:a:b', 'a:b'],
    ['alice', 'alice'],
    ['Alice.unverified.ns', 'Alice.unverified.ns'],
  ])('%s is the lookup of %s', (typed, name) => {
    expect(read(typed)).toEqual({ lookup: { name } })
  })

  it.each([ALICE, `localnet:party-id:${ALICE}`])('%s is known without a read', (typed) => {
    const { known } = read(typed) as { readonly known: Uint8Array }
    expect(JSON.parse(Buffer.from(known).toString())).toEqual({
      fqpn: `localnet:party-id:${ALICE}`,
      party_id: ALICE,
      display_name: ALICE,
    })
  })

  it.each([
    [`mainnet:cns:${NAME}`, 'not of mainnet'],
    ['localnet:dns:alice.example', 'names of cns'],
    ['localnet:party-id:alice', 'names of party-id'],
    ['localnet:cns', 'at most 512'],
    ['a'.repeat(256), 'at most 255'],
  ])('refuses %s', (typed, rule) => {
    const details = { path: expect.stringContaining('query.'), rule: expect.stringContaining(rule) }
    expect(() => read(typed)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', details }),
    )
  })

  it('refuses another network, also for a party', () => {
    expect(() => read(ALICE, 'mainnet')).toThrow('has names of localnet, not of mainnet')
  })
})

describe('a result', () => {
  const answerOf = (expires_at: string | null) =>
    Buffer.from(JSON.stringify({ entry: { name: NAME, user: ALICE, expires_at } }))
  const result = { fqpn: `localnet:cns:${NAME}`, party_id: ALICE, display_name: NAME }

  it('ends with its entry', () => {
    const end = '2026-12-01T00:00:00.000000Z'
    expect(partyNameOf(answerOf(end), 'localnet')).toEqual({ ...result, valid_until: end })
  })

  it('of an entry without an end has none', () => {
    expect(partyNameOf(answerOf(null), 'localnet')).toEqual(result)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatFqpn, isQualified, type NetworkName, parseFqpn } from './fqpn.ts'

const PARTY = `alice::1220${'a'.repeat(64)}`
const networks = fc.constantFrom<NetworkName>('mainnet', 'testnet', 'devnet', 'localnet')
const ids = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/)
const names = fc.stringMatching(/^[!-~]{1,200}$/)

describe('qualified names', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(networks, ids, names, (network, resolver, name) => {
        const parts = { network, resolver, name }
        expect(parseFqpn(formatFqpn(parts))).toEqual(parts)
        expect(isQualified(formatFqpn(parts))).toBe(true)
      }),
    )
  })

  it('have names that contain colons', () => {
    expect(parseFqpn(` localnet:party-id:${PARTY} `)).toEqual({
      network: 'localnet',
      resolver: 'party-id',
      name: PARTY,
    })
  })

  it.each([
    ['alice', 'starts with'],
    ['othernet:cns:alice.unverified.ns', 'starts with'],
    ['mainnet:CNS:alice.unverified.ns', 'naming system'],
    ['mainnet::alice.unverified.ns', 'naming system'],
    ['mainnet:cns:', 'printable ASCII'],
    ['mainnet:cns:al ice.unverified.ns', 'printable ASCII'],
    ['mainnet:cns:älice.unverified.ns', 'printable ASCII'],
    [`mainnet:cns:${'a'.repeat(501)}`, 'at most 512'],
  ])('refuses %s', (text, rule) => {
    expect(() => parseFqpn(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_NAME', message: expect.stringContaining(rule) }),
    )
  })

  it('are not confused with parties whose hint is the name of a network', () => {
    expect(isQualified(`mainnet::1220${'a'.repeat(64)}`)).toBe(false)
  })
})

import { isQualified, type NetworkName } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatFqpn, parseFqpn } from './fqpn.ts'

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
    'alice',
    'othernet:cns:alice.unverified.ns',
    'mainnet:CNS:alice.unverified.ns',
    `mainnet:${'c'.repeat(33)}:alice.unverified.ns`,
    'mainnet::alice.unverified.ns',
    'mainnet:cns:',
    'mainnet:cns:al ice.unverified.ns',
    'mainnet:cns:älice.unverified.ns',
    `mainnet:cns:${'a'.repeat(501)}`,
  ])('refuses %s', (text) => {
    const rule = expect.stringContaining('at most 512')
    expect(() => parseFqpn(text)).toThrow(
      expect.objectContaining({
        code: 'INVALID_NAME',
        message: rule,
        details: { name: text, rule },
      }),
    )
  })

  it('has parts that are not split otherwise when they are read again', () => {
    const parts = { network: 'mainnet', resolver: 'c:ns', name: 'alice' } as const
    expect(parseFqpn('mainnet:c:ns:alice')).toMatchObject({ resolver: 'c', name: 'ns:alice' })
    expect(() => formatFqpn(parts)).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
  })

  it('are not confused with parties whose hint is the name of a network', () => {
    expect(isQualified(`mainnet::1220${'a'.repeat(64)}`)).toBe(false)
  })
})

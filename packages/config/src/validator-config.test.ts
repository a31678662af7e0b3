import { describe, expect, it } from 'vitest'
import { readValidatorConfig } from './validator-config.ts'

const minimal = {
  QS_GENESIS: '/d/genesis.json',
  QS_PORT: '0',
  QS_REDIS: 'unix:///d/validator.sock',
  QS_LOG: 'http://127.0.0.1:4600/',
  QS_LOG_TOKEN_FILE: '/d/token',
  QS_PARTICIPANT_KEY_FILE: '/d/participant.key',
  QS_SEEDS: 'http://127.0.0.1:4601,http://127.0.0.1:4602',
  QS_JWT_SECRET_FILE: '/d/jwt.secret',
}

describe('readValidatorConfig', () => {
  it('reads the required variables alone', () => {
    expect(readValidatorConfig(minimal)).toMatchObject({
      host: '127.0.0.1',
      seeds: ['http://127.0.0.1:4601', 'http://127.0.0.1:4602'],
      tokens: { kind: 'shared-secret', secretFile: '/d/jwt.secret' },
      audience: 'https://quorumscan.example',
      tokenLifetimeSecondsMax: null,
      rateLimit: 200,
      allowPrivateAddresses: false,
      isLossAccepted: false,
      networkName: 'localnet',
      trustRule: null,
    })
  })

  it('reads the name of the network, which is one of four', () => {
    const read = (name: string) => readValidatorConfig({ ...minimal, QS_NETWORK_NAME: name })
    expect(read('devnet').networkName).toBe('devnet')
    expect(() => read('Mainnet')).toThrow('QS_NETWORK_NAME: "Mainnet" is not one of mainnet')
  })

  it('reads the members to trust, by default a third of them, rounded down, plus one', () => {
    const read = (members: string, threshold = '') =>
      readValidatorConfig({
        ...minimal,
        QS_TRUST_MEMBERS: members,
        QS_TRUST_THRESHOLD: threshold,
      }).trustRule
    const members = ['sv-1', 'sv-2', 'sv-3']
    expect(read('sv-1,sv-2,sv-3')).toEqual({ members, threshold: 2 })
    expect(read('sv-1,sv-2,sv-3', '3')).toEqual({ members, threshold: 3 })
    expect(() => read('sv-1,sv-1')).toThrow(
      'QS_TRUST_MEMBERS: the members to trust name sv-1 twice',
    )
    expect(() => read('sv-1', '2')).toThrow('must be from 1 to 1')
    expect(() => read('', '2')).toThrow('QS_TRUST_THRESHOLD needs')
  })

  it('requires exactly one way of verifying tokens', () => {
    const text = 'exactly one of QS_JWT_SECRET_FILE and QS_JWKS_URL'
    const jwks = { QS_JWKS_URL: 'https://issuer.example/jwks', QS_JWKS_ALGORITHM: 'EdDSA' }
    expect(() => readValidatorConfig({ ...minimal, ...jwks })).toThrow(text)
    expect(() => readValidatorConfig({ ...minimal, QS_JWT_SECRET_FILE: '' })).toThrow(text)
    expect(readValidatorConfig({ ...minimal, QS_JWT_SECRET_FILE: '', ...jwks }).tokens).toEqual({
      kind: 'jwks',
      url: 'https://issuer.example/jwks',
      algorithm: 'EdDSA',
    })
    for (const url of ['issuer.example/jwks', 'file:///keys', 'https://'])
      expect(() =>
        readValidatorConfig({ ...minimal, QS_JWT_SECRET_FILE: '', ...jwks, QS_JWKS_URL: url }),
      ).toThrow('QS_JWKS_URL')
  })

  it('accepts a shared secret on loopback addresses only (D-32)', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.7', 'validator.example', '127.0.0.1.example'])
      expect(() => readValidatorConfig({ ...minimal, QS_HOST: host }), host).toThrow('loopback')
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
      expect(readValidatorConfig({ ...minimal, QS_HOST: host }).host).toBe(host)
    const jwks = { QS_JWT_SECRET_FILE: '', QS_JWKS_URL: 'https://issuer.example/jwks' }
    expect(readValidatorConfig({ ...minimal, ...jwks, QS_HOST: '0.0.0.0' }).host).toBe('0.0.0.0')
  })

  it('reports all errors at once', () => {
    const error = (() => {
      try {
        return readValidatorConfig({
          QS_SEEDS: 'ftp://x',
          QS_JWKS_ALGORITHM: 'HS256',
          QS_RATE_LIMIT: '0',
        })
      } catch (reason) {
        return String(reason)
      }
    })()
    for (const part of ['QS_GENESIS', 'QS_PORT', 'QS_REDIS', 'ftp://x', 'HS256', 'QS_RATE_LIMIT'])
      expect(error).toContain(part === 'HS256' ? 'QS_JWKS_ALGORITHM' : part)
  })
})

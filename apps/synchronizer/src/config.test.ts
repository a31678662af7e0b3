import { expect, it } from 'vitest'
import { envToConfig } from './config.ts'

it('reads what the cluster sets', () => {
  expect(
    envToConfig({
      QS_GENESIS: '/d/genesis.json',
      QS_PORT: '0',
      QS_LOG_REDIS: '/d/log',
      QS_LOG_REDIS_PASSWORD_FILE: '/d/writer',
      QS_KEY_FILE: '/d/key',
      QS_NODES: 'sv-1=http://127.0.0.1:4611/,sv-2=https://scan.example',
    }),
  ).toEqual({
    genesisFile: '/d/genesis.json',
    logDirectory: null,
    diskFreeMibMin: 256,
    host: '127.0.0.1',
    port: 0,
    logLevel: 'info',
    tracesEndpoint: null,
    logRedis: { path: '/d/log', passwordFile: '/d/writer' },
    keyFile: '/d/key',
    nodes: [
      { name: 'sv-1', url: 'http://127.0.0.1:4611' },
      { name: 'sv-2', url: 'https://scan.example' },
    ],
    rateLimit: 2000,
    entryRates: { stranger: 50, peer: 500, superValidator: 25 },
    peerTokensFile: null,
  })
})

it('names all that is missing at once', () => {
  expect(() => envToConfig({ QS_RATE_LIMIT: '0', QS_NODES: 'sv-1' })).toThrow(
    [
      'QS_GENESIS is not set',
      'QS_PORT is not set',
      'QS_NODES: "sv-1" is no name=http://address',
      'QS_RATE_LIMIT is no integer from 1 to 10000000: "0"',
      'QS_LOG_REDIS is not set',
      'QS_LOG_REDIS_PASSWORD_FILE is not set',
      'QS_KEY_FILE is not set',
    ].join('\n'),
  )
})

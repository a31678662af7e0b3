import { expect, it } from 'vitest'
import { PLAIN_CONNECTIONS } from './connections-config.ts'
import { readSynchronizerConfig } from './synchronizer-config.ts'

it('reads the variables that the cluster sets', () => {
  expect(
    readSynchronizerConfig({
      QS_GENESIS: '/d/genesis.json',
      QS_PORT: '0',
      QS_LOG_REDIS: 'unix:///d/log',
      QS_LOG_REDIS_PASSWORD_FILE: '/d/writer',
      QS_KEY_FILE: '/d/key',
      QS_NODES: 'sv-1=http://127.0.0.1:4611/,sv-2=https://scan.example',
    }),
  ).toEqual({
    genesisFile: '/d/genesis.json',
    logDirectory: null,
    diskFreeMibMin: 256,
    logKeepSeconds: 86_400,
    host: '127.0.0.1',
    port: 0,
    logLevel: 'info',
    connections: PLAIN_CONNECTIONS,
    tracesEndpoint: null,
    ordering: {
      driver: 'redis',
      redis: expect.objectContaining({
        place: { path: '/d/log' },
        secretFiles: expect.objectContaining({ password: '/d/writer' }),
        tls: null,
      }),
      keyFile: '/d/key',
    },
    nodes: [
      { name: 'sv-1', url: 'http://127.0.0.1:4611' },
      { name: 'sv-2', url: 'https://scan.example' },
    ],
    rateLimit: 2000,
    entryRates: { anonymous: 50, peer: 500, superValidator: 25 },
    nodeTokensFile: null,
    peerTokensFile: null,
    peersFile: null,
  })
})

it('reports all missing variables at once', () => {
  expect(() => readSynchronizerConfig({ QS_RATE_LIMIT: '0', QS_NODES: 'sv-1' })).toThrow(
    [
      'QS_GENESIS is not set',
      'QS_PORT is not set',
      'QS_NODES: "sv-1" is not name=https://address',
      'QS_RATE_LIMIT must be an integer from 1 to 10000000, not "0"',
      'QS_LOG_REDIS is not set',
      'QS_KEY_FILE is not set',
    ].join('\n'),
  )
})

const engineId = 'ab'.repeat(20)
const member = {
  QS_GENESIS: '/d/genesis.json',
  QS_PORT: '0',
  QS_NODES: 'sv-1=http://127.0.0.1:4611',
  QS_REDIS: 'unix:///d/sv-1',
  QS_ENGINE_HOME: '/d/engine',
  QS_ENGINE_SOCKETS: '/s/sv-1',
  QS_ENGINE_ADDRESS: '127.0.0.1:26657',
  QS_ENGINE_KEY_FILE: '/d/node',
  QS_VOTING_KEY_FILE: '/d/voting',
  QS_ENGINE_PEERS: `${engineId}@127.0.0.1:26656`,
}

it('reads the additional variables of a member', () => {
  expect(readSynchronizerConfig(member).ordering).toMatchObject({
    driver: 'cometbft',
    redis: { place: { path: '/d/sv-1' } },
    engine: {
      home: '/d/engine',
      program: 'cometbft',
      sockets: '/s/sv-1',
      address: '127.0.0.1:26657',
      nodeKeyFile: '/d/node',
      votingKeyFile: '/d/voting',
    },
    engines: { peers: [`${engineId}@127.0.0.1:26656`], followers: [] },
  })
})

it.each([
  [
    { QS_ENGINE_PEERS: '127.0.0.1:26656' },
    'QS_ENGINE_PEERS: "127.0.0.1:26656" is not id@host:port',
  ],
  [{ QS_ENGINE_FOLLOWERS: `${engineId},x` }, 'QS_ENGINE_FOLLOWERS: "x" is not the id of an engine'],
  [{ QS_ENGINE_SOCKETS: '', QS_REDIS: '' }, 'QS_REDIS is not set\nQS_ENGINE_SOCKETS is not set'],
])('refuses the variables %j of a member', (changes, message) => {
  expect(() => readSynchronizerConfig({ ...member, ...changes })).toThrow(message)
})

it('accepts a client CA only with TLS', () => {
  const clients = { ...member, QS_TLS_CLIENT_CA: '/d/ca' }
  expect(() => readSynchronizerConfig(clients)).toThrow(
    'QS_TLS_CLIENT_CA: clients show certificates only by TLS',
  )
  const tls = { QS_TLS_CERT: '/d/cert', QS_TLS_KEY: '/d/key' }
  expect(readSynchronizerConfig({ ...clients, ...tls }).connections.tls).toEqual({
    certFile: '/d/cert',
    keyFile: '/d/key',
    clientCaFile: '/d/ca',
  })
})

it('refuses sentinels for the log: a new primary may lack its end', () => {
  const alone = { QS_GENESIS: '/d/g', QS_PORT: '0', QS_NODES: 'sv-1=http://127.0.0.1:1' }
  const log = { QS_LOG_REDIS: 'redis+sentinel://a.example/log', QS_KEY_FILE: '/d/key' }
  expect(() => readSynchronizerConfig({ ...alone, ...log })).toThrow(
    'QS_LOG_REDIS must not use sentinels',
  )
})

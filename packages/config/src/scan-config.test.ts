import { EnvError } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { readScanConfig } from './scan-config.ts'

const complete = {
  QS_GENESIS: '/data/genesis.json',
  QS_PORT: '4601',
  QS_REDIS: 'unix:///run/sv-1.sock',
  QS_LOG: 'http://127.0.0.1:4600/',
  QS_LOG_TOKEN_FILE: '/data/token',
  QS_NODE_NAME: 'sv-1',
  QS_SCAN_KEY_FILE: '/data/sv-1.scan',
  QS_OPERATOR_KEY_FILE: '/data/sv-1.operator',
}

it('uses defaults for optional variables', () => {
  expect(readScanConfig(complete)).toMatchObject({
    host: '127.0.0.1',
    log: { url: 'http://127.0.0.1:4600', tokenFile: '/data/token' },
    publicUrl: null,
    rateLimit: 200,
    logLevel: 'info',
    tracesEndpoint: null,
  })
})

it('reports all missing and invalid variables at once', () => {
  const bad = {
    QS_PORT: '70000',
    QS_REDIS: '',
    QS_PUBLIC_URL: 'ftp://sv-1',
    QS_LOG: '/run/log.sock',
  }
  const env = { ...complete, ...bad }
  expect(() => readScanConfig(env)).toThrow(EnvError)
  try {
    readScanConfig(env)
  } catch (error) {
    const lines = (error as Error).message.split('\n').map((line) => line.split(/:? /)[0])
    expect(lines.sort()).toEqual(['QS_LOG', 'QS_PORT', 'QS_PUBLIC_URL', 'QS_REDIS'])
  }
})

it('requires a token, or a certificate over https, for the synchronizer', () => {
  const { QS_LOG_TOKEN_FILE: _, ...others } = complete
  const shown = { ...others, QS_LOG_CERT: '/d/cert', QS_LOG_KEY: '/d/key' }
  const https = { ...shown, QS_LOG: 'https://synchronizer.example' }
  expect(readScanConfig(https).log).toMatchObject({
    tokenFile: null,
    certificate: { cert: { file: '/d/cert' }, key: { file: '/d/key' } },
  })
  const one = 'exactly one of QS_LOG_TOKEN_FILE and QS_LOG_CERT must be set'
  expect(() => readScanConfig(others)).toThrow(one)
  expect(() => readScanConfig({ ...complete, ...https })).toThrow(one)
  expect(() => readScanConfig({ ...https, QS_LOG_KEY: '' })).toThrow(
    'set both QS_LOG_CERT and QS_LOG_KEY',
  )
  expect(() => readScanConfig(shown)).toThrow('QS_LOG_CERT needs https')
})

it('removes the final slash of the public address, so that address records are equal', () => {
  const config = readScanConfig({ ...complete, QS_PUBLIC_URL: 'https://sv-1.example/' })
  expect(config.publicUrl).toBe('https://sv-1.example')
})

import { type Env, EnvError, MARKER_VARIABLE } from '@quorumscan/base'
import { describe, expect, it } from 'vitest'
import { readProcessConfig } from './process-config.ts'
import { readScanConfig } from './scan-config.ts'
import { readSynchronizerConfig } from './synchronizer-config.ts'
import { readValidatorConfig } from './validator-config.ts'

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
const misspelt = { ...complete, QS_RATE_LIMITS: '1' }

it('reads what it knows, and variables of other programs do not matter', () => {
  const config = readProcessConfig({ ...complete, PATH: '/bin', NODE_OPTIONS: '' }, readScanConfig)
  expect(config.nodeName).toBe('sv-1')
})

describe('a variable that no process reads', () => {
  it.each<[string, (env: Env) => unknown]>([
    ['a scan node', readScanConfig],
    ['a validator', readValidatorConfig],
    ['a synchronizer', readSynchronizerConfig],
  ])('ends the start of %s', (_, read) => {
    const start = () => readProcessConfig(misspelt, read)
    expect(start).toThrow(EnvError)
    expect(start).toThrow(/QS_RATE_LIMITS is not a variable .*did you mean QS_RATE_LIMIT\?/)
  })

  it('is reported with all else that is wrong', () => {
    const { QS_NODE_NAME: _, ...others } = misspelt
    expect(() => readProcessConfig(others, readScanConfig)).toThrow(
      /QS_NODE_NAME is not set\n.*QS_RATE_LIMITS/,
    )
  })
})

it('processes may share a file of variables, also of an engine', () => {
  const shared = { ...complete, QS_SEEDS: 'https://a.example', QS_ENGINE_PEERS: '' }
  expect(readProcessConfig(shared, readScanConfig).nodeName).toBe('sv-1')
})

it('a file of an operator may be read by one of its processes', () => {
  const shared = { ...complete, QS_NAME: 'sv-1', QS_DATA_DIR: '/data', QS_BACKUPS: '/backups' }
  expect(readProcessConfig(shared, readScanConfig).nodeName).toBe('sv-1')
})

it('an empty variable is not set, whatever its name', () => {
  expect(readProcessConfig({ ...complete, QS_X: '' }, readScanConfig).nodeName).toBe('sv-1')
})

it('addresses of services, which Kubernetes and Docker set, do not matter', () => {
  const links = {
    QS_SCAN_SERVICE_HOST: '10.0.0.1',
    QS_SCAN_SERVICE_PORT: '4600',
    QS_SCAN_SERVICE_PORT_HTTP: '4600',
    QS_SCAN_PORT: 'tcp://10.0.0.1:4600',
    QS_SCAN_PORT_4600_TCP: 'tcp://10.0.0.1:4600',
    QS_SCAN_PORT_4600_TCP_PROTO: 'tcp',
    QS_SCAN_PORT_4600_TCP_ADDR: '10.0.0.1',
  }
  expect(readProcessConfig({ ...complete, ...links }, readScanConfig).nodeName).toBe('sv-1')
})

it('of the processes of a supervisor, it has judged the variables', () => {
  const env = { ...misspelt, [MARKER_VARIABLE]: '/data' }
  expect(readProcessConfig(env, readScanConfig).nodeName).toBe('sv-1')
})

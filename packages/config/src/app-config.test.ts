import { EnvError, readEnv } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { readFollowerConfig } from './app-config.ts'

const complete = {
  QS_GENESIS: '/d/genesis.json',
  QS_PORT: '0',
  QS_LOG: 'https://synchronizer.example/',
  QS_LOG_TOKEN_FILE: '/d/token',
}
const read = (changes: object) => readEnv({ ...complete, ...changes }, readFollowerConfig)

it('TLS needs a certificate and its key', () => {
  expect(read({}).connections.tls).toBeNull()
  const files = { certFile: '/d/cert', keyFile: '/d/key' }
  const variables = { QS_TLS_CERT: files.certFile, QS_TLS_KEY: files.keyFile }
  expect(read(variables).connections.tls).toEqual(files)
  for (const half of Object.keys(variables))
    expect(() => read({ [half]: '/d/one' })).toThrow('set both QS_TLS_CERT and QS_TLS_KEY')
})

it.each([
  'https://a.example',
  'https://a.example/b/',
  'http://127.0.0.1:4600',
  'http://localhost:4600',
  'http://[::1]:4600/',
])('%s may be the address of another process', (url) => {
  const address = url.replace(/\/$/, '')
  expect(read({ QS_LOG: url }).log.url).toBe(address)
  expect(read({ QS_NODES: `sv-1=${url}` }).nodes).toEqual([{ name: 'sv-1', url: address }])
})

it.each([
  'http://a.example',
  'http://10.0.0.7:4600',
  'http://localhost.example',
  'a.example',
  'ftp://a.example',
  'https://',
  'https://a b',
  'https://ann:Hunter2@a.example',
  'https://a.example/?key=1',
])('refuses to start with %s, and names the variable', (url) => {
  const start = () => read({ QS_LOG: url, QS_NODES: `sv-1=${url}` })
  expect(start).toThrow(EnvError)
  for (const name of ['QS_NODES', 'QS_LOG'])
    expect(start).toThrow(new RegExp(`^${name}: ".*" (is|has|contains|does not) `, 'm'))
  expect(start).not.toThrow('Hunter2')
})

it('trusted proxies are addresses, and pass the client address in one header', () => {
  const variables = { QS_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', QS_TRUSTED_HEADER: 'forwarded' }
  expect(read(variables).connections.proxies).toEqual({
    trusted: ['127.0.0.1', '10.0.0.0/8'],
    header: 'forwarded',
  })
  expect(() => read({ QS_TRUSTED_PROXIES: 'proxy.example' })).toThrow('QS_TRUSTED_PROXIES: ')
  expect(() => read({ QS_TRUSTED_HEADER: 'x-real-ip' })).toThrow(
    'QS_TRUSTED_HEADER: "x-real-ip" is not one of',
  )
})

it.each([
  ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
  ['[::1]:9464', { host: '::1', port: 9464 }],
  ['unix:///run/sv-1', { path: '/run/sv-1' }],
  ['', null],
])('the operator address may be %j', (text, address) => {
  expect(read({ QS_OPERATOR_ADDRESS: text }).connections.operatorAddress).toEqual(address)
})

it.each(['9464', '127.0.0.1', '::1:9464', '127.0.0.1:70000'])('refuses %j as address', (text) => {
  expect(() => read({ QS_OPERATOR_ADDRESS: text })).toThrow('is not host:port')
})

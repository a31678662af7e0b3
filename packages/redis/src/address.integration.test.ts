import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnv } from '@quorumscan/base'
import {
  createAuthority,
  freePort,
  required,
  startRedis,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseRedisUrl, readOwnRedis, readRedisAddress } from './address.ts'
import { createConnection } from './connection.ts'

describe('a URL', () => {
  const one = { host: 'a.example', port: 6379 }
  it.each([
    ['unix:///run/a redis', { path: '/run/a redis' }, false],
    ['redis://a.example', one, false],
    ['redis://a.example/', one, false],
    ['rediss://a.example:6380/0', { ...one, port: 6380 }, true],
    ['redis://[::1]:7', { host: '::1', port: 7 }, false],
    [
      'redis+sentinel://a.example:1,b/mymaster',
      {
        sentinels: [
          { ...one, port: 1 },
          { host: 'b', port: 26379 },
        ],
        name: 'mymaster',
      },
      false,
    ],
    ['rediss+sentinel://a.example/m', { sentinels: [{ ...one, port: 26379 }], name: 'm' }, true],
  ])('%s is an address', (text, place, isSecure) => {
    expect(parseRedisUrl(text)).toEqual({ place, isSecure })
  })

  it.each([
    ['/run/redis', 'is not unix:///path'],
    ['http://a.example', 'is not unix:///path'],
    ['redis://', 'is not host:port'],
    ['redis://a.example:0', 'is not host:port'],
    ['redis://a.example:70000', 'is not host:port'],
    ['redis://a.example/1', 'only database 0'],
    ['redis://a.example?db=1', 'is not unix:///path'],
    ['unix://run/redis', 'begins with a slash'],
    ['redis+sentinel://a.example', 'must end in the name of a primary'],
    ['redis+sentinel://a.example,/m', 'is not host:port'],
  ])('%s is refused', (text, reason) => {
    expect(() => parseRedisUrl(text)).toThrow(reason)
  })
})

const read = (env: Record<string, string>) => readEnv(env, readOwnRedis)

it('reports contradicting variables, and shows no password', () => {
  const secret = { QS_REDIS: 'rediss://user:hunter2@a.example' }
  expect(() => read(secret)).toThrow(/^QS_REDIS: user and password belong in files/)
  expect(() => read(secret)).not.toThrow('hunter2')
  expect(() => read({})).toThrow('QS_REDIS is not set')
  const plain = { QS_REDIS: 'redis://a.example' }
  expect(() => read({ ...plain, QS_REDIS_CA: '/ca' })).toThrow('QS_REDIS_CERT need TLS')
  expect(() => read({ ...plain, QS_REDIS_SENTINEL_PASSWORD_FILE: '/p' })).toThrow('no sentinels')
  const cert = { QS_REDIS: 'rediss://a.example', QS_REDIS_CERT: '/c' }
  expect(() => read(cert)).toThrow('set both QS_REDIS_CERT and QS_REDIS_KEY')
})

describe('over TLS', () => {
  let authority: Awaited<ReturnType<typeof createAuthority>>
  let others: typeof authority
  let redis: Awaited<ReturnType<typeof startRedis>>
  let env: Record<string, string>
  beforeAll(async () => {
    ;[authority, others] = await Promise.all([createAuthority(), createAuthority('others')])
    const { certFile, keyFile } = await authority.issue('redis')
    const port = await freePort()
    redis = await startRedis([
      '--tls-port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--tls-ca-cert-file',
      authority.caFile,
      '--tls-cert-file',
      certFile,
      '--tls-key-file',
      keyFile,
      '--tls-auth-clients',
      'yes',
      '--user',
      'qs',
      'on',
      '>hunter2',
      '~*',
      '&*',
      '+@all',
    ])
    const file = async (name: string, text: string) => {
      const path = join(authority.directory, name)
      await writeFile(path, `${text}\n`)
      return path
    }
    const own = await authority.issue('client')
    env = {
      QS_REDIS: `rediss://127.0.0.1:${port}`,
      QS_REDIS_USER_FILE: await file('user', 'qs'),
      QS_REDIS_PASSWORD_FILE: await file('password', 'hunter2'),
      QS_REDIS_CA: authority.caFile,
      QS_REDIS_CERT: own.certFile,
      QS_REDIS_KEY: own.keyFile,
    }
  })
  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]()
    await authority?.[Symbol.asyncDispose]()
    await others?.[Symbol.asyncDispose]()
  })

  async function ask(changes: Record<string, string> = {}): Promise<unknown> {
    const address = await readRedisAddress(read({ ...env, ...changes }))
    let reason: Error | null = null
    const client = createConnection(address, {
      lazyConnect: true,
      reconnect: null,
      onError: (error) => {
        reason ??= error
      },
    })
    try {
      await client.connect()
      return await client.call('ACL', 'WHOAMI')
    } catch (error) {
      throw reason ?? error
    } finally {
      client.disconnect()
    }
  }

  it('a client with its certificate connects, with user and password from files', async () => {
    expect(await ask()).toBe('qs')
    await writeFile(join(authority.directory, 'wrong'), 'wrong')
    const wrong = { QS_REDIS_PASSWORD_FILE: join(authority.directory, 'wrong') }
    await expect(ask(wrong)).rejects.toThrow('WRONGPASS')
  })

  it('sentinels are reached in the same way, then the Redis that they name', async () => {
    const port = await freePort()
    const { certFile, keyFile } = await authority.issue('sentinel')
    const config = join(authority.directory, 'sentinel.conf')
    const lines = [
      'port 0',
      `tls-port ${port}`,
      'bind 127.0.0.1',
      `dir ${authority.directory}`,
      `tls-cert-file ${certFile}`,
      `tls-key-file ${keyFile}`,
      `tls-ca-cert-file ${authority.caFile}`,
      'tls-auth-clients yes',
      'tls-replication yes',
      `sentinel monitor mymaster 127.0.0.1 ${new URL(env['QS_REDIS'] ?? '').port} 1`,
    ]
    await writeFile(config, `${lines.join('\n')}\n`)
    const sentinel = spawn(required('redis'), [config, '--sentinel'], { stdio: 'ignore' })
    const ended = once(sentinel, 'exit')
    try {
      const QS_REDIS = `rediss+sentinel://127.0.0.1:${port}/mymaster`
      await until('the sentinel to listen', () => ask({ QS_REDIS }).catch(() => undefined))
      expect(await ask({ QS_REDIS })).toBe('qs')
      const stranger = await others.issue('stranger')
      const shown = { QS_REDIS_CERT: stranger.certFile, QS_REDIS_KEY: stranger.keyFile }
      await expect(ask({ QS_REDIS, ...shown })).rejects.toThrow()
    } finally {
      sentinel.kill('SIGKILL')
      await ended
    }
  })

  it('a connection without a certificate, with one of another authority, or to an unknown Redis fails', async () => {
    await expect(ask({ QS_REDIS_CERT: '', QS_REDIS_KEY: '' })).rejects.toThrow()
    const { certFile, keyFile } = await others.issue('client')
    await expect(ask({ QS_REDIS_CERT: certFile, QS_REDIS_KEY: keyFile })).rejects.toThrow()
    await expect(ask({ QS_REDIS_CA: others.caFile })).rejects.toThrow('certificate')
  })

  it('each connection uses the current content of the files', async () => {
    const held = ['held.pem', 'held.key'].map((name) => join(authority.directory, name))
    const [cert = '', key = ''] = held
    const wrong = await others.issue('wrong')
    await copyFile(wrong.certFile, cert)
    await copyFile(wrong.keyFile, key)
    const files = { QS_REDIS_CERT: cert, QS_REDIS_KEY: key }
    const address = await readRedisAddress(read({ ...env, ...files }))
    let refusals = 0
    const client = createConnection(address, {
      reconnect: { stepMs: 10, msMax: 100 },
      maxRetriesPerRequest: null,
      onError: () => {
        refusals++
      },
    })
    const answer = client.ping()
    await untilTrue('refusals', () => refusals > 1)
    await copyFile(env['QS_REDIS_CERT'] ?? '', `${cert}.new`)
    await rename(`${cert}.new`, cert)
    await copyFile(env['QS_REDIS_KEY'] ?? '', `${key}.new`)
    await rename(`${key}.new`, key)
    expect(await answer).toBe('PONG')
    client.disconnect()
  })
})

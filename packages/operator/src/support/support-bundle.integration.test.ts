/**
 * Each kind of secret is planted where an operator has it, and none is in the bundle.
 *
 * @module-tag rest
 */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createAuthority, required } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { makeMember } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { writeSupportBundle } from './support-bundle.ts'

const clock = createSystemClock()
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLW9mLWFsaWNl'

it.for([
  ['a configuration that is right', {}, []],
  [
    'a configuration that is wrong',
    { QS_GENESIS: '/nowhere', QS_PEER_TOKEN: 'misspelt-token' },
    ['misspelt-token'],
  ],
  ['a token in place of its file', { QS_LOG_TOKEN_FILE: 'typed-token' }, ['typed-token']],
  ['a password in an address', { QS_REDIS: 'redis://sv:typed-word@10.0.0.5:6379' }, ['typed-word']],
] as const)('%s', async ([, changes, typed], { directory: root }) => {
  const at = (...names: string[]) => join(root, ...names)
  await using authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('sv-1')
  mkdirSync(at('members'))
  const directory = dataDirectory(at('data'))
  const svs = ['sv-1', 'sv-2'].map((name) =>
    makeMember(name === 'sv-1' ? directory : dataDirectory(at(name)), 'super-validator', {
      name,
      createdAtMicros: 1,
      url: `https://127.0.0.1:${name === 'sv-1' ? 1 : 2}`,
      engineAddress: `127.0.0.1:${name === 'sv-1' ? 3 : 4}`,
    }),
  )
  copyFileSync(directory.memberFile('sv-1'), at('members/sv-1.member.json'))
  copyFileSync(dataDirectory(at('sv-2')).memberFile('sv-2'), at('members/sv-2.member.json'))
  const genesis = createGenesis(svs, { driver: 'cometbft', overrides: {} })
  writeFileSync(at('genesis.json'), JSON.stringify(genesis))
  mkdirSync(at('data/secrets'), { recursive: true })
  const planted: Record<string, string> = {
    'data/secrets/log-token-sv-1': 'log-token-of-this-member',
    'data/secrets/log-writer': 'password-of-the-log-writer',
    peers: '# callers\ntoken-of-a-caller-1234\ntoken-of-a-caller-5678\n',
    'console-token': 'token-of-the-console-1234\n',
    'redis-password': 'password-of-redis\n',
    'redis-user': 'user-of-redis\n',
  }
  for (const [file, text] of Object.entries(planted)) writeFileSync(at(file), text)
  const seeds = readdirSync(at('data/keys')).map((name) =>
    readFileSync(at('data/keys', name), 'utf8').trim(),
  )
  expect(seeds).toHaveLength(4)
  const variables = {
    QS_NAME: 'sv-1',
    QS_DATA_DIR: at('data'),
    QS_GENESIS: at('genesis.json'),
    QS_MEMBERS: at('members'),
    QS_PORT: '4611',
    QS_SYNCHRONIZER_PORT: '4624',
    QS_ENGINE_ADDRESS: '127.0.0.1:26656',
    QS_TLS_CERT: certFile,
    QS_TLS_KEY: keyFile,
    QS_OPERATOR_ADDRESS: '127.0.0.1:1',
    QS_CONSOLE_TOKEN_FILE: at('console-token'),
    QS_PEER_TOKENS_FILE: at('peers'),
    QS_REDIS: 'rediss://redis.example:6380',
    QS_REDIS_PASSWORD_FILE: at('redis-password'),
    QS_REDIS_USER_FILE: at('redis-user'),
    NODE_OPTIONS: '--title=secret-of-another-program',
    ...changes,
  }
  writeFileSync(
    at('sv.env'),
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const secrets = [
    ...seeds,
    ...seeds.map((seed) => Buffer.from(seed, 'hex').toString('base64').slice(0, 42)),
    ...Object.values(planted).flatMap((text) =>
      text.split('\n').filter((line) => line && !line.startsWith('#')),
    ),
    ...readFileSync(keyFile, 'utf8')
      .split('\n')
      .filter((line) => line && !line.startsWith('-')),
    'secret-of-another-program',
    JWT,
    ...typed,
  ]
  // A log into which a defect wrote all of them.
  writeFileSync(at('run.log'), secrets.map((secret) => `{"msg":"sent ${secret}"}\n`).join(''))
  const bundle = await writeSupportBundle({
    configFile: at('sv.env'),
    file: at('bundle.txt'),
    logFile: at('run.log'),
    versions: 'quorumscan 0.1.0\n',
    redisServer: required('redis'),
    env: process.env,
    clock,
  })
  const text = readFileSync(at('bundle.txt'), 'utf8')
  expect(statSync(at('bundle.txt')).mode & 0o777).toBe(0o600)
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(bundle.sections.map(({ name }) => name)).toEqual([
    'about',
    'configuration',
    'checks',
    'metrics',
    'statements',
    'files',
    'log',
  ])
  expect(bundle.hiddenCount).toBeGreaterThan(secrets.length / 2)
  if (Object.keys(changes).length === 0) expect(text).toContain('no problem was found')
  // What helps is in it.
  for (const shown of [
    'quorumscan 0.1.0',
    'QS_NAME=sv-1',
    `QS_TLS_KEY=${keyFile}`,
    'keys/sv-1.scan',
  ])
    expect(text).toContain(shown)
  await expect(
    writeSupportBundle({
      configFile: at('sv.env'),
      file: at('bundle.txt'),
      logFile: null,
      versions: '',
      redisServer: 'redis-server',
      env: {},
      clock,
    }),
  ).rejects.toThrow('bundle.txt exists. Name another file with `--out`')
})

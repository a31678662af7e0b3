/** The processes that follow from one operator's file, and the problems of a file. */

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeIdOf } from '@quorumscan/cometbft'
import {
  PLAIN_CONNECTIONS,
  readScanConfig,
  readSynchronizerConfig,
  readValidatorConfig,
} from '@quorumscan/config'
import type { Service } from '@quorumscan/supervisor'
import { createAuthority, type TestAuthority } from '@quorumscan/testkit'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { memberOf } from '@quorumscan/verifier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MemberFile, makeMember, type Role, type Runnable } from '../ceremony/member.ts'
import type { OrderingDriver } from '../ceremony/rules.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { redisMemoryBudget } from '../redis-memory.ts'
import { readOperatorConfig } from './operator-config.ts'
import { planOperator, validateProcesses, warningsOf } from './operator-services.ts'

const root = directoryOfFile()
const tls = { QS_TLS_CERT: '', QS_TLS_KEY: '' }
let authority: TestAuthority
beforeAll(async () => {
  authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('sv-1')
  Object.assign(tls, { QS_TLS_CERT: certFile, QS_TLS_KEY: keyFile })
})
const token = join(root, 'token')
writeFileSync(token, 'a-token-of-22-letters_\n')
afterAll(async () => {
  await authority?.[Symbol.asyncDispose]()
})

const shown = join(root, 'shown')
mkdirSync(shown)

function enroll(role: Role, name: string, port: number): MemberFile {
  const directory = dataDirectory(join(root, name))
  const member = makeMember(directory, role, {
    name,
    createdAtMicros: 1_700_000_000_000_000,
    url: role === 'super-validator' ? `https://${name}.example` : null,
    engineAddress: role === 'super-validator' ? `${name}.example:${port}` : null,
  })
  copyFileSync(directory.memberFile(name), join(shown, `${name}.member.json`))
  return member
}

const svs = ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map((name) => enroll('super-validator', name, 26656))
const validator = enroll('validator', 'v', 0)
const synchronizer = enroll('synchronizer', 'orderer', 0)
const genesisFiles = { redis: join(root, 'redis.json'), cometbft: join(root, 'cometbft.json') }
for (const driver of ['redis', 'cometbft'] as const) {
  const members = driver === 'redis' ? [...svs, synchronizer] : svs
  const genesis = createGenesis(members, { driver, overrides: {} })
  writeFileSync(genesisFiles[driver], JSON.stringify(genesis))
}

const ownVariables = (name: string, driver: OrderingDriver) => ({
  QS_NAME: name,
  QS_DATA_DIR: join(root, name),
  QS_GENESIS: genesisFiles[driver],
  QS_MEMBERS: shown,
  QS_HOST: '0.0.0.0',
  QS_PORT: '4611',
  ...(driver === 'redis'
    ? {}
    : { QS_SYNCHRONIZER_PORT: '4624', QS_ENGINE_ADDRESS: '0.0.0.0:26656' }),
})

function fileOf(variables: object): string {
  const file = join(root, 'run.env')
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  writeFileSync(file, `# of one operator\n${lines.join('\n')}\n`)
  return file
}

const read = (runs: Runnable, variables: object) =>
  readOperatorConfig(runs, fileOf(variables), validateProcesses)

function plan(runs: Runnable, variables: object): readonly Service[] {
  const config = read(runs, variables)
  const machine = {
    directory: config.directory,
    socketDirectory: '/run/qs',
    redisServer: 'redis-server',
    entryFiles: { scan: 'scan.js', synchronizer: 'synchronizer.js', validator: 'validator.js' },
    engineProgram: '/usr/bin/cometbft',
    env: { PATH: '/bin' },
    logFileOf: () => null,
  }
  return planOperator(config, machine, 'secret')
}

const idOf = (member: MemberFile) => nodeIdOf(String(memberOf(member.keys, 'engine')))

describe('a super-validator whose members order together', () => {
  const [ordering, scan] = plan('sv', ownVariables('sv-1', 'cometbft'))

  it('runs a scan node that follows its own synchronizer, on one Redis', () => {
    const config = readScanConfig(scan?.app.env ?? {})
    expect(config).toMatchObject({
      nodeName: 'sv-1',
      publicUrl: 'https://sv-1.example',
      host: '0.0.0.0',
      log: { url: 'http://127.0.0.1:4624' },
    })
    expect(config.nodes.map(({ name }) => name)).toEqual(['sv-1', 'sv-2', 'sv-3', 'sv-4'])
    expect(scan?.redis).toEqual(ordering?.redis)
    expect([scan?.url, ordering?.url]).toEqual(['http://127.0.0.1:4611', 'http://127.0.0.1:4624'])
  })

  it('lets its engine connect to the other members, and accept that of a validator', () => {
    const config = readSynchronizerConfig(ordering?.app.env ?? {})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 4624,
      ordering: {
        driver: 'cometbft',
        redis: readScanConfig(scan?.app.env ?? {}).redis,
        engines: {
          peers: svs.slice(1).map((sv) => `${idOf(sv)}@${sv.name}.example:26656`),
          followers: [idOf(validator)],
        },
        engine: {
          address: '0.0.0.0:26656',
          program: '/usr/bin/cometbft',
          votingKeyFile: join(root, 'sv-1', 'keys', 'sv-1.voting'),
        },
      },
    })
  })
})

it('TLS and proxies apply to the public process only, and `run` listens at the operator address', () => {
  const connections = {
    ...tls,
    QS_TRUSTED_PROXIES: '10.0.0.7',
    QS_OPERATOR_ADDRESS: '0.0.0.0:9464',
  }
  const variables = { ...ownVariables('sv-1', 'cometbft'), ...connections }
  const [ordering, scan] = plan('sv', variables)
  expect(readScanConfig(scan?.app.env ?? {}).connections).toMatchObject({
    tls: { certFile: tls.QS_TLS_CERT, keyFile: tls.QS_TLS_KEY },
    proxies: { trusted: ['10.0.0.7'] },
    operatorAddress: { path: '/run/qs/m-sv-1' },
  })
  expect(scan?.url).toBe('http://127.0.0.1:9464')
  expect(readSynchronizerConfig(ordering?.app.env ?? {}).connections).toEqual({
    ...PLAIN_CONNECTIONS,
    operatorAddress: { path: '/run/qs/m-sv-1.synchronizer' },
  })
  expect(() => read('sv', { ...variables, QS_OPERATOR_ADDRESS: '' })).toThrow(
    'QS_OPERATOR_ADDRESS is not set',
  )
  expect(() => read('sv', { ...variables, QS_OPERATOR_ADDRESS: 'unix:///run/sv-1' })).toThrow(
    'name host:port, not a unix socket',
  )
})

it('all processes use the Redis that the file names, and none is started', () => {
  const own = { ...ownVariables('sv-1', 'cometbft'), QS_REDIS_PASSWORD_FILE: token }
  const named = { ...own, QS_REDIS: 'rediss://redis.example:6380' }
  const services = plan('sv', named)
  expect(services.map(({ isExternal }) => isExternal)).toEqual([true, true])
  const [ordering, scan] = services.map(({ app }) => app.env)
  const redis = { place: { host: 'redis.example', port: 6380 }, secretFiles: { password: token } }
  expect(readScanConfig(scan ?? {}).redis).toMatchObject(redis)
  const { ordering: config, logDirectory } = readSynchronizerConfig(ordering ?? {})
  expect(config).toMatchObject({ redis })
  expect(logDirectory).toBeNull()
  expect(() => read('sv', own)).toThrow('QS_REDIS_PASSWORD_FILE belongs to QS_REDIS, which is not')
  const secret = { ...own, QS_REDIS: 'redis://sv-1:hunter2@redis.example' }
  expect(() => read('sv', secret)).toThrow('user and password belong in files')
})

it('a validator has an engine without a vote', () => {
  const users = { QS_JWKS_URL: 'https://issuer.example/jwks' }
  const [ordering, app] = plan('validator', { ...ownVariables('v', 'cometbft'), ...users })
  const { ordering: config } = readSynchronizerConfig(ordering?.app.env ?? {})
  expect(config).toMatchObject({ engines: { followers: [] }, engine: { votingKeyFile: null } })
  expect(readValidatorConfig(app?.app.env ?? {})).toMatchObject({
    participantKeyFile: join(root, 'v', 'keys', 'v.participant'),
    seeds: svs.map(({ url }) => url),
  })
})

it('a single synchronizer runs without an engine, as do its followers', () => {
  const [only, ...none] = plan('synchronizer', ownVariables('orderer', 'redis'))
  expect(none).toEqual([])
  expect(readSynchronizerConfig(only?.app.env ?? {})).toMatchObject({
    ordering: { driver: 'redis', keyFile: join(root, 'orderer', 'keys', 'orderer') },
  })
  const log = { QS_LOG: 'https://orderer.example', QS_LOG_TOKEN_FILE: token }
  const services = plan('sv', { ...ownVariables('sv-2', 'redis'), ...log })
  expect(services.map(({ name }) => name)).toEqual(['sv-2'])
  expect(readScanConfig(services[0]?.app.env ?? {}).log.url).toBe('https://orderer.example')
})

it('a file is refused with all that is wrong in it', () => {
  expect(() => read('sv', { QS_PORT: '1' })).toThrow(
    /QS_NAME is not set\nQS_DATA_DIR is not set\nQS_GENESIS is not set\nQS_MEMBERS is not set\n/,
  )
  const lacking = { ...ownVariables('sv-1', 'cometbft'), QS_SYNCHRONIZER_PORT: '' }
  const wrong = { ...lacking, QS_ENGINE_ADDRESS: '', QS_RATE_LIMIT: 'none', QS_RATE_LIMTI: '1' }
  for (const problem of [
    'QS_SYNCHRONIZER_PORT is not set',
    'QS_ENGINE_ADDRESS is not set',
    'QS_RATE_LIMIT must be an integer',
    'QS_RATE_LIMTI is not a variable that these processes read: did you mean QS_RATE_LIMIT?',
  ])
    expect(() => read('sv', wrong)).toThrow(problem)
  expect(() => readOperatorConfig('sv', join(root, 'nowhere'), validateProcesses)).toThrow(
    `the configuration cannot be read: ${join(root, 'nowhere')} does not exist`,
  )
})

it.each([
  ['an address of the network, with neither TLS nor a proxy', {}, 1],
  ['a host without an address of its own', { QS_HOST: 'sv-1.internal' }, 1],
  ['every address of IPv6', { QS_HOST: '::' }, 1],
  ['this machine alone', { QS_HOST: '127.0.0.1' }, 0],
  ['this machine alone, by IPv6', { QS_HOST: '::1' }, 0],
  ['this machine alone, by default', { QS_HOST: '' }, 0],
  ['TLS', tls, 0],
  ['a proxy in front', { QS_TRUSTED_PROXIES: '10.0.0.7' }, 0],
])('warns of plain HTTP: %s', (_, changed, count) => {
  const operator = { QS_OPERATOR_ADDRESS: '127.0.0.1:9464' }
  const config = read('sv', { ...ownVariables('sv-1', 'cometbft'), ...operator, ...changed })
  const warnings = warningsOf(config)
  expect(warnings).toHaveLength(count)
  for (const name of count === 0
    ? []
    : ['QS_HOST', 'QS_TLS_CERT', 'QS_TLS_KEY', 'QS_TRUSTED_PROXIES'])
    expect(warnings[0]).toContain(name)
})

/** The problems for which the file is refused, without the name of the file. */
function problemsOf(runs: Runnable, variables: object): readonly string[] {
  try {
    read(runs, variables)
  } catch (error) {
    return String(memberOf(error, 'message')).split('\n').slice(1, -1)
  }
  return []
}

it('names all files that are missing or hold something else, and all malformed addresses, at once', () => {
  const [wrong, text] = [join(root, 'wrong'), join(root, 'wrong.pem')]
  writeFileSync(wrong, 'not a token\n')
  writeFileSync(text, '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n')
  const variables = {
    ...ownVariables('sv-1', 'cometbft'),
    QS_TLS_CERT: tls.QS_TLS_CERT,
    QS_TLS_KEY: join(root, 'no-key'),
    QS_OPERATOR_ADDRESS: '127.0.0.1:9464',
    QS_PEER_CA: text,
    QS_PEER_TOKENS_FILE: wrong,
    QS_ENGINE_ADDRESS: ':26656',
    QS_LOG_LEVEL: 'debgu',
    QS_PROT: '4611',
    PORTT: '4611',
    NODE_OPTIONS: '--max-old-space-size=512',
  }
  expect(problemsOf('sv', variables)).toEqual([
    'QS_LOG_LEVEL: "debgu" is not one of trace, debug, info, warn, error, fatal, silent',
    'QS_ENGINE_ADDRESS: ":26656" is not host:port, such as 0.0.0.0:26656',
    `QS_TLS_KEY: ${join(root, 'no-key')} does not exist`,
    `QS_PEER_CA: ${text}: the file must hold a certificate in PEM`,
    `QS_PEER_TOKENS_FILE: ${wrong}: line 1 is not of the form 22 to 128 of A-Z a-z 0-9 _ -`,
    'QS_PROT is not a variable that these processes read: did you mean QS_PORT?',
  ])
  const other = {
    ...ownVariables('sv-1', 'cometbft'),
    ...tls,
    QS_TLS_KEY: `${authority.caFile.slice(0, -3)}key`,
  }
  expect(problemsOf('sv', { ...other, QS_OPERATOR_ADDRESS: '127.0.0.1:9464' })).toEqual([
    'QS_TLS_CERT, QS_TLS_KEY: the files contain no certificate with its key: the key is that of another one',
  ])
})

it('gives its Redis the memory that the operator sets', () => {
  const own = ownVariables('sv-1', 'cometbft')
  const memoryOf = (variables: object) =>
    plan('sv', { ...own, ...variables }).map(({ redisMemoryBytes }) => redisMemoryBytes)
  expect(memoryOf({ QS_REDIS_MEMORY_MIB: '4096' })).toEqual([2 ** 32, 2 ** 32])
  expect(memoryOf({})).toEqual([redisMemoryBudget(undefined), redisMemoryBudget(undefined)])
  expect(problemsOf('sv', { ...own, QS_REDIS_MEMORY_MIB: '4GB' })).toEqual([
    'QS_REDIS_MEMORY_MIB: it must be an integer from 64 to 1048576, in MiB, not "4GB"',
  ])
})

it('reads a file with lines of Windows', () => {
  const file = fileOf(ownVariables('sv-1', 'cometbft'))
  const before = readOperatorConfig('sv', file, validateProcesses)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'))
  expect(readOperatorConfig('sv', file, validateProcesses).variables).toEqual(before.variables)
})

it('reports wrong variables even if the genesis cannot be read', () => {
  const variables = { ...ownVariables('sv-1', 'cometbft'), QS_GENESIS: join(root, 'no-genesis') }
  expect(problemsOf('sv', { ...variables, QS_RATE_LIMIT: 'none', QS_RATE_LIMTI: '1' })).toEqual([
    `QS_GENESIS: ${join(root, 'no-genesis')} does not exist`,
    'QS_RATE_LIMIT must be an integer from 1 to 10000000, not "none"',
    'QS_RATE_LIMTI is not a variable that these processes read: did you mean QS_RATE_LIMIT?',
  ])
})

it('names each key file that is damaged or differs from genesis or member file', () => {
  const copy = dataDirectory(join(root, 'copied'))
  makeMember(copy, 'super-validator', {
    name: 'sv-1',
    createdAtMicros: 1,
    url: null,
    engineAddress: null,
  })
  const variables = { ...ownVariables('sv-1', 'cometbft'), QS_DATA_DIR: copy.path }
  expect(problemsOf('sv', variables)).toEqual(
    ['scan', 'operator', 'voting', 'engine'].map((kind) =>
      expect.stringContaining(
        `sv-1.${kind} is not the ${kind} key that the genesis names for sv-1`,
      ),
    ),
  )
  const directory = dataDirectory(join(root, 'damaged'))
  makeMember(directory, 'validator', {
    name: 'v',
    createdAtMicros: 1,
    url: null,
    engineAddress: null,
  })
  writeFileSync(join(directory.path, 'keys', 'v.participant'), 'no seed')
  const users = { QS_JWKS_URL: 'https://issuer.example/jwks', QS_DATA_DIR: directory.path }
  expect(problemsOf('validator', { ...ownVariables('v', 'cometbft'), ...users })).toEqual([
    expect.stringMatching(/v\.participant: the file must hold a seed of 64 hexadecimal digits$/),
    expect.stringContaining('v.engine is not the engine key that its member file names for v'),
  ])
  const seed = readFileSync(join(root, 'sv-1', 'keys', 'sv-1.scan'), 'utf8')
  writeFileSync(join(root, 'sv-1', 'keys', 'sv-1.scan'), `${seed}\n`) // As an editor saves it.
  expect(problemsOf('sv', ownVariables('sv-1', 'cometbft'))).toEqual([])
})

it.each([
  [
    'validator',
    'v',
    { QS_JWKS_URL: 'https://issuer.example/jwks', QS_TRUST_MEMBERS: 'sv-1,sv-9' },
    /^QS_TRUST_MEMBERS: sv-9 is not a member of the network/,
  ],
  [
    'validator',
    'v',
    { QS_JWKS_URL: 'https://issuer.example/jwks', QS_ACCEPT_LOST_USERS: 'yes' },
    /^QS_ACCEPT_LOST_USERS must be 0 or 1, not "yes"/,
  ],
  [
    'validator',
    'v',
    { QS_JWKS_URL: 'https://issuer.example/jwks', QS_ALLOW_READABLE_KEYS: 'true' },
    /^QS_ALLOW_READABLE_KEYS must be 0 or 1, not "true"/,
  ],
] as const)(
  'finds before a start what the %s would find at its start: %s %o',
  (runs, name, wrong, problem) => {
    expect(problemsOf(runs, { ...ownVariables(name, 'cometbft'), ...wrong })).toEqual([
      expect.stringMatching(problem),
    ])
  },
)

it('refuses members that differ from the genesis', () => {
  const others = join(root, 'others')
  mkdirSync(others)
  const strange = dataDirectory(join(root, 'strange'))
  const told = { createdAtMicros: 1, url: null, engineAddress: null }
  makeMember(strange, 'super-validator', { name: 'sv-2', ...told })
  copyFileSync(strange.memberFile('sv-2'), join(others, 'sv-2.member.json'))
  copyFileSync(join(shown, 'sv-1.member.json'), join(others, 'sv-1.member.json'))
  const variables = { ...ownVariables('sv-1', 'cometbft'), QS_MEMBERS: others }
  const readOthers = () => read('sv', variables)
  expect(readOthers).toThrow('the genesis has other keys of sv-2 than its file')
  expect(readOthers).toThrow(
    `QS_MEMBERS: ${others} has no file of sv-3: put sv-3.member.json there, which its operator has`,
  )
  const stranger = { ...ownVariables('v', 'cometbft'), QS_NAME: 'v' }
  expect(() => read('sv', stranger)).toThrow(
    'the genesis names no super-validator v, but sv-1, sv-2, sv-3, sv-4',
  )
  // Neither advice to make keys for it, nor a variable that `run` sets.
  expect(problemsOf('sv', { ...ownVariables('sv-1', 'cometbft'), QS_NAME: 'sv-5' })).toEqual([
    'QS_NAME: the genesis names no super-validator sv-5, but sv-1, sv-2, sv-3, sv-4',
  ])
  expect(() => read('synchronizer', ownVariables('orderer', 'cometbft'))).toThrow(
    'this network has no synchronizer',
  )
})

it.each(['redis', 'cometbft'] as const)(
  'with %s, a variable that is missing is named, and no other that follows from it',
  (driver) => {
    const variables: Record<string, string> = {
      ...ownVariables('sv-1', driver),
      ...(driver === 'redis'
        ? { QS_LOG: 'https://orderer.example', QS_LOG_TOKEN_FILE: token }
        : {}),
      ...tls,
      QS_OPERATOR_ADDRESS: '127.0.0.1:9464',
    }
    expect(read('sv', variables)).toMatchObject({ name: 'sv-1' })
    const problemsOf = (missing: string): readonly string[] => {
      const { [missing]: _, ...others } = variables
      try {
        read('sv', others)
        return []
      } catch (error) {
        const [, ...lines] = (error as Error).message.split('\n')
        return lines.slice(0, -1)
      }
    }
    const required = ['QS_NAME', 'QS_DATA_DIR', 'QS_GENESIS', 'QS_MEMBERS', 'QS_PORT']
    required.push(
      ...(driver === 'redis' ? ['QS_LOG'] : ['QS_SYNCHRONIZER_PORT', 'QS_ENGINE_ADDRESS']),
    )
    for (const name of required) expect(problemsOf(name), name).toEqual([`${name} is not set`])
  },
)

it('refuses a variable that is set twice, with its lines', () => {
  const { QS_NAME, ...others } = ownVariables('sv-1', 'cometbft')
  const of = (text: string) => () => {
    const file = fileOf(others)
    writeFileSync(file, `${readFileSync(file, 'utf8')}${text}`)
    return readOperatorConfig('sv', file, () => [])
  }
  expect(of(`QS_NAME=sv-2\nexport QS_NAME = ${QS_NAME}\n`)).toThrow(
    /sets QS_NAME in the lines 9 and 10; leave one of them/,
  )
  const certificate = `"-----BEGIN\nQS_NAME=sv-2\n-----END"`
  expect(of(`QS_NAME=${QS_NAME}\nTEXT=${certificate}\n# QS_NAME=sv-3\n`)().name).toBe('sv-1')
  expect(of(`QS_NAME=${QS_NAME}\nTEXT="no end\nQS_PORT=4612\n`)).toThrow('sets QS_PORT')
})

it('refuses a line that sets no variable, and a file in place of the directory of members', () => {
  const variables = ownVariables('sv-1', 'cometbft')
  const readWith = (text: string) => () => {
    const file = fileOf(variables)
    writeFileSync(file, `${readFileSync(file, 'utf8')}${text}`)
    return readOperatorConfig('sv', file, () => [])
  }
  expect(readWith('QS_RATE_LIMIT 5\n')).toThrow('line 10 sets no variable: write NAME=value')
  expect(readWith('\n  # a comment\n\t\n')().name).toBe('sv-1')
  expect(readWith('TEXT="a\nb c\n"\n')().name).toBe('sv-1')
  const file = fileOf({ ...variables, QS_MEMBERS: genesisFiles.cometbft })
  expect(() => readOperatorConfig('sv', file, () => [])).toThrow(
    `QS_MEMBERS: ${genesisFiles.cometbft} is a file, and not the directory with the member files`,
  )
})

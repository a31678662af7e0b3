/** Backups of operators, restored in another directory. Another test runs the result. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { trimLog, verifyLog, writeWholeLog } from '@quorumscan/log'
import { required, startRedis } from '@quorumscan/testkit'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { openValidatorStore, readStore } from '@quorumscan/users'
import { expect, it } from 'vitest'
import { makeMember, type Role, type Runnable } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis, hashGenesis, logGenesisOf } from '../genesis.ts'
import { type OperatorConfig, readOperatorConfig } from '../run/operator-config.ts'
import { validateProcesses } from '../run/operator-services.ts'
import { openOwnRedis } from '../run/own-redis.ts'
import { each, signedGroups } from '../testing/signed-groups.ts'
import { writeArchive } from './archive.ts'
import { backUp, NAMED_BYTES_MAX } from './back-up.ts'
import { restore } from './restore.ts'

const root = directoryOfFile()
const clock = createSystemClock()
const machine = {
  env: process.env,
  clock,
  get redisServer() {
    return required('redis')
  },
}
const { signal } = new AbortController()

const shown = join(root, 'shown')
mkdirSync(shown)
function enroll(role: Role, name: string) {
  const directory = dataDirectory(join(root, name))
  const isSv = role === 'super-validator'
  const url = isSv ? 'https://sv-1.example' : null
  const engineAddress = isSv ? 'sv-1.example:26656' : null
  const member = makeMember(directory, role, { name, createdAtMicros: 1, url, engineAddress })
  copyFileSync(directory.memberFile(name), join(shown, `${name}.member.json`))
  return member
}
const sv = enroll('super-validator', 'sv-1')
const synchronizer = enroll('synchronizer', 'orderer')
enroll('validator', 'v')
const genesis = createGenesis([sv, synchronizer], { driver: 'redis', overrides: {} })
writeFileSync(join(root, 'genesis.json'), JSON.stringify(genesis))
writeFileSync(join(root, 'token'), 'a-token-of-22-letters_')

function configOf(runs: Runnable, name: string, more: object = {}): OperatorConfig {
  const token = join(root, 'token')
  const variables = {
    QS_NAME: name,
    QS_DATA_DIR: join(root, name),
    QS_PORT: '4611',
    QS_GENESIS: join(root, 'genesis.json'),
    QS_MEMBERS: shown,
    ...(runs === 'synchronizer'
      ? { QS_PEER_TOKENS_FILE: token }
      : { QS_LOG: 'https://orderer.example', QS_LOG_TOKEN_FILE: token }),
    ...(runs === 'validator'
      ? {
          QS_JWKS_URL: 'https://issuer.example/jwks?a=1',
          QS_JWKS_ALGORITHM: 'ES256',
          QS_AUDIENCE: 'quotes "b" and # a mark',
        }
      : {}),
    ...more,
  }
  const file = join(root, `${name}.env`)
  const quote = (value: string) => (value.includes('"') ? `'${value}'` : value)
  const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${quote(value)}`)
  writeFileSync(file, lines.join('\n'))
  return readOperatorConfig(runs, file, validateProcesses)
}

const redisOf = (config: OperatorConfig) => openOwnRedis({ ...machine, config })

let count = 0
async function backedUp(config: OperatorConfig, isLogOnly = false): Promise<string> {
  const file = join(root, `${config.name}-${count++}.backup`)
  await backUp({ ...machine, config, file, isLogOnly })
  return file
}

const restored = (file: string, name: string, more: Partial<Parameters<typeof restore>[0]> = {}) =>
  restore({ ...machine, file, target: join(root, name), overrides: {}, logFiles: [], ...more })

it('restores the users of a validator that ran, or not, during its backup', async () => {
  const config = configOf('validator', 'v')
  let file: string
  {
    await using own = await redisOf(config)
    const { redis } = own
    await using store = await openValidatorStore({ redis, genesisHash: hashGenesis(genesis) })
    const user = { id: 'alice', primaryParty: null, isDeactivated: false, metadata: {} }
    await store.users.insert({ user: { ...user, identityProviderId: '' }, rights: [] })
    await store.identity.save('a key')
    file = await backedUp(config)
  }
  const kept = await keptOf(config)
  expect(kept.length).toBeGreaterThan(2)
  for (const [name, from] of [
    ['elsewhere', file],
    ['again', await backedUp(config)],
  ] as const) {
    const { configFile } = await restored(from, name, { overrides: { QS_PORT: '4711' } })
    const there = readOperatorConfig('validator', configFile, validateProcesses)
    expect(there.variables).toEqual({
      ...config.variables,
      QS_PORT: '4711',
      QS_DATA_DIR: join(root, name),
      QS_GENESIS: join(root, name, 'genesis.json'),
      QS_MEMBERS: join(root, name, 'members'),
      QS_LOG_TOKEN_FILE: join(root, name, 'files', 'QS_LOG_TOKEN_FILE'),
    })
    expect(readFileSync(there.variables['QS_LOG_TOKEN_FILE'] ?? '', 'utf8')).toContain('22-letters')
    const key = readFileSync(join(root, name, 'keys', 'v.participant'))
    expect(key).toEqual(readFileSync(join(root, 'v', 'keys', 'v.participant')))
    expect(statSync(join(root, name, 'keys', 'v.participant')).mode & 0o777).toBe(0o600)
    expect(await keptOf(there)).toEqual(kept)
  }
})

it('backs up and restores a validator whose Redis runs elsewhere', async () => {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
  await using there = await startRedis(durable)
  await using empty = await startRedis(durable)
  const config = configOf('validator', 'v', { QS_REDIS: `unix://${there.socketPath}` })
  {
    const redis = { path: there.socketPath }
    await using store = await openValidatorStore({ redis, genesisHash: hashGenesis(genesis) })
    await store.identity.save('a key of elsewhere')
  }
  const file = await backedUp(config)
  const overrides = { QS_REDIS: `unix://${empty.socketPath}` }
  const { configFile } = await restored(file, 'with-redis', { overrides })
  expect(readOperatorConfig('validator', configFile, validateProcesses).variables).toMatchObject(
    overrides,
  )
  const kept = await readStore({ path: there.socketPath })
  expect(kept).toHaveLength(1)
  expect(await readStore({ path: empty.socketPath })).toEqual(kept)
  expect(existsSync(dataDirectory(join(root, 'with-redis')).redisDirectory('v'))).toBe(false)
})

it.each([
  ['QS_PROT', '4711', 'QS_PROT is not a variable that these processes read: did you mean QS_PORT?'],
  ['QS_PORT', 'abc', 'QS_PORT must be an integer from 0 to 65535, not "abc"'],
  [
    'QS_REWARDS_TO',
    'nobody',
    'QS_REWARDS_TO: is no party: write it as in alice::1220…, with 64 hex digits at the end',
  ],
  ['QS_ALLOW_READABLE_KEYS', 'yes', 'QS_ALLOW_READABLE_KEYS must be 0 or 1, not "yes"'],
  ['QS_TLS_CERT', '/etc/tls/later.pem', 'set both QS_TLS_CERT and QS_TLS_KEY, or neither'],
])('refuses --set %s=%s before anything is restored', async (name, value, why) => {
  const file = await backedUp(configOf('sv', 'sv-1'))
  await expect(restored(file, 'refused', { overrides: { [name]: value } })).rejects.toThrow(
    `nothing was restored: the variables of \`--set\` are wrong:\n${why}\nCorrect them, and restore again`,
  )
  expect(existsSync(join(root, 'refused'))).toBe(false)
})

async function keptOf(config: OperatorConfig) {
  await using own = await redisOf(config)
  return await readStore(own.redis)
}

const groupsOf = (from: number, to: number) =>
  signedGroups({ keyFile: join(root, 'orderer', 'keys', 'orderer'), genesis }, from, to)

it('restores the trimmed log of a synchronizer with groups from super-validators', async () => {
  const config = configOf('synchronizer', 'orderer')
  {
    await using own = await redisOf(config)
    const { redis } = own
    const log = { redis, genesis: logGenesisOf(genesis), signal }
    await writeWholeLog(log, each(groupsOf(1, 20)), [])
    await trimLog({ redis, before: { offset: 8, recordTime: Number.MAX_SAFE_INTEGER }, signal })
  }
  const file = await backedUp(config)
  // As `backup sv --log` writes it: groups before the end of the other log, and later ones.
  const more = join(root, 'sv-1.backup')
  const of = { role: 'sv' as const, name: 'sv-1', takenAt: '', variables: {} }
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  const items = groupsOf(15, 30).map(({ bytes, signature }) => ({
    kind: 'group' as const,
    bytes: base64(bytes),
    signature: base64(signature),
  }))
  await writeArchive(more, { ...of, genesisHash: hashGenesis(genesis) }, each(items))
  const foreign = join(root, 'foreign.backup')
  await writeArchive(foreign, { ...of, genesisHash: 'ab'.repeat(32) }, each(items))

  await expect(restored(file, 'orderer-2', { logFiles: [foreign] })).rejects.toThrow(
    `${foreign} is a backup of another network`,
  )
  expect((await restored(file, 'orderer-2')).logEnd).toBe(20)
  const { logEnd, configFile } = await restored(file, 'orderer-3', { logFiles: [more] })
  expect(logEnd).toBe(30)
  await using own = await redisOf(readOperatorConfig('synchronizer', configFile, validateProcesses))
  const log = { redis: own.redis, genesis: logGenesisOf(genesis), signal }
  expect(await verifyLog(log)).toMatchObject({ start: 8, end: 30, damages: [] })
})

it('a log backup of a super-validator has no keys, and cannot restore an operator', async () => {
  const config = configOf('sv', 'sv-1')
  const file = await backedUp(config, true)
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ kind }) => kind)).toEqual([undefined, 'head', 'end'])
  expect(lines[0].variables).toEqual({})
  await expect(restored(file, 'of-the-log')).rejects.toThrow('only log entries and no keys')
  expect(existsSync(join(root, 'of-the-log'))).toBe(false)
})

it('restores the keys of a super-validator, no vote state, and no damaged backup', async () => {
  const config = configOf('sv', 'sv-1')
  const file = await backedUp(config)
  expect(readFileSync(file, 'utf8')).not.toContain('priv_validator_state')
  const { configFile } = await restored(file, 'sv-elsewhere')
  expect(configFile).toBe(join(root, 'sv-elsewhere', 'run.env'))
  expect(readdirSync(join(root, 'sv-elsewhere')).sort()).toEqual(
    ['files', 'genesis.json', 'keys', 'members', 'run.env', 'sv-1.member.json'].sort(),
  )
  await expect(restored(file, 'sv-elsewhere')).rejects.toThrow('is not empty')

  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('sv-1.example', 'sv-2.example'))
  await expect(restored(file, 'nowhere')).rejects.toThrow(`${file} is damaged`)
  expect(readdirSync(root).filter((name) => name.startsWith('nowhere'))).toEqual([])
})

it('restores into an existing directory, and leaves it empty after a failure', async () => {
  const file = await backedUp(configOf('sv', 'sv-1'))
  const target = join(root, 'mounted')
  mkdirSync(join(target, 'lost+found'), { recursive: true })
  mkdirSync(join(target, '.restore', 'keys'), { recursive: true }) // Of an interrupted restore.
  const { ino } = statSync(target)
  const damaged = join(root, 'damaged.backup')
  writeFileSync(damaged, readFileSync(file, 'utf8').replace('sv-1.example', 'sv-2.example'))
  await expect(restored(damaged, 'mounted')).rejects.toThrow('is damaged')
  const alone = await backedUp(configOf('sv', 'sv-1'), true)
  await expect(restored(alone, 'mounted')).rejects.toThrow('only log entries')
  expect(readdirSync(target)).toEqual(['lost+found'])

  const { configFile } = await restored(file, 'mounted')
  expect(statSync(target).ino).toBe(ino)
  expect(readdirSync(target)).toContain('run.env')
  expect(readdirSync(target)).not.toContain('.restore')
  expect(readOperatorConfig('sv', configFile, validateProcesses).name).toBe('sv-1')
  await expect(restored(file, 'genesis.json')).rejects.toThrow('genesis.json is not a directory')
})

it.each([
  ['is too large', 'x'.repeat(NAMED_BYTES_MAX + 1), 'bytes are more than the 1048576 of a file'],
  ['is no text', Buffer.from([0x30, 0x82, 0xff, 0xfe]), 'not text in UTF-8'],
  ['is missing', null, 'does not exist'],
])(
  'a backup without a named file that %s is written only with --skip, and names it',
  async (_, content, why) => {
    const named = join(root, `named-${count}`)
    if (content !== null) writeFileSync(named, content)
    const config = configOf('sv', 'sv-1')
    const { QS_LOG_TOKEN_FILE: _token, ...rest } = config.variables
    const lacking = { ...config, variables: { ...rest, QS_LOG_TOKEN_FILE: named } }
    const file = join(root, `lacking-${count++}.backup`)
    const back = (skip: readonly string[]) =>
      backUp({ ...machine, config: lacking, file, isLogOnly: false, skip })
    await expect(back([])).rejects.toThrow(
      new RegExp(
        `^no backup was written.*\nQS_LOG_TOKEN_FILE: .*${named}.*${why}.*\n\`--skip QS_LOG_TOKEN_FILE\``,
      ),
    )
    expect(existsSync(file)).toBe(false)
    await expect(back(['QS_TLS_CERT'])).rejects.toThrow(
      '--skip QS_TLS_CERT: the configuration names no file by this variable',
    )
    const skipped = [{ variable: 'QS_LOG_TOKEN_FILE', reason: expect.stringContaining(why) }]
    expect(await back(['QS_LOG_TOKEN_FILE'])).toEqual(skipped)
    expect(await restored(file, `lacking-${count++}`)).toMatchObject({ skipped })
  },
)

it('holds files of exactly the limit, of relative paths, and of variables of other programs', async () => {
  const large = join(root, 'large')
  writeFileSync(large, 'x'.repeat(NAMED_BYTES_MAX))
  const config = configOf('sv', 'sv-1', { NODE_EXTRA_CA_CERTS: large })
  const token = relative(process.cwd(), join(root, 'token'))
  const variables = { ...config.variables, QS_LOG_TOKEN_FILE: token }
  const file = await backedUp({ ...config, variables })
  const { configFile, skipped } = await restored(file, 'whole')
  expect(skipped).toEqual([])
  const files = join(root, 'whole', 'files')
  expect(readOperatorConfig('sv', configFile, validateProcesses).variables).toMatchObject({
    NODE_EXTRA_CA_CERTS: join(files, 'NODE_EXTRA_CA_CERTS'),
    QS_LOG_TOKEN_FILE: join(files, 'QS_LOG_TOKEN_FILE'),
  })
  expect(statSync(join(files, 'NODE_EXTRA_CA_CERTS')).size).toBe(NAMED_BYTES_MAX)
})

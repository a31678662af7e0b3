/** `jobs list` and `jobs retry` of an operator, at the Redis of its node, whose processes do not run. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectory } from '@quorumscan/operator'
import { createGenesis, makeMember } from '@quorumscan/operator/ceremony'
import { required, startRedis } from '@quorumscan/testkit'
import { captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { afterEach, expect, it } from 'vitest'
import { setHintOption } from './options.ts'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

const root = directoryOfFile()
afterEach(() => setHintOption('--config', null))

const members = join(root, 'members')
mkdirSync(members)
const directory = dataDirectory(join(root, 'sv-1'))
const superValidator = makeMember(directory, 'super-validator', {
  name: 'sv-1',
  createdAtMicros: 1,
  url: 'https://sv-1.example',
  engineAddress: 'sv-1.example:26656',
})
copyFileSync(directory.memberFile('sv-1'), join(members, 'sv-1.member.json'))
const genesisFile = join(root, 'genesis.json')
const genesis = createGenesis([superValidator], { driver: 'cometbft', overrides: {} })
writeFileSync(genesisFile, JSON.stringify(genesis))

/** The file of `run sv`. */
function configFile(more: readonly string[] = []): string {
  const file = join(root, 'sv.env')
  const lines = [
    'QS_NAME=sv-1',
    `QS_DATA_DIR=${directory.path}`,
    'QS_SYNCHRONIZER_PORT=4624',
    `QS_GENESIS=${genesisFile}`,
    `QS_MEMBERS=${members}`,
  ]
  writeFileSync(file, [...lines, ...more].join('\n'))
  return file
}

async function type(...args: readonly string[]): Promise<string> {
  using output = captureOutput()
  const environment = { ...testEnvironment(), redisServer: required('redis') }
  expect(await runCommandLine(args, environment)).toBe(0)
  return output.stdout
}

const failure = {
  job: 'expire-entry',
  contractId: '00ab',
  code: 'CHOICE_REFUSED',
  message: 'not yet',
  attempts: 1,
  at: 1_700_000_000_000_000,
}

it('`jobs` lists each dropped job once, and queues the named one again', async () => {
  await using redis = await startRedis()
  const client = redis.connect()
  const other = { ...failure, contractId: '00cd' }
  for (const one of [failure, failure, other])
    await client.lpush('jobs:failures', JSON.stringify(one))
  const config = configFile([`QS_REDIS=unix://${redis.socketPath}`])
  const listed = await type('jobs', 'list', 'sv', '--config', config)
  expect(listed).toBe(`sv-1: no job waits
  dropped 2023-11-14T22:13:20.000000Z expire-entry/00cd: CHOICE_REFUSED not yet
  dropped 2023-11-14T22:13:20.000000Z expire-entry/00ab: CHOICE_REFUSED not yet
`)
  const unknown = type('jobs', 'retry', 'sv', 'expire-entry/00', '--config', config)
  await expect(unknown).rejects.toThrow('unknown dropped job expire-entry/00')
  const retried = await type('jobs', 'retry', 'sv', 'expire-entry/00ab', '--config', config)
  expect(retried).toBe('expire-entry/00ab was added again\n')
  expect(await type('jobs', 'list', 'sv', '--config', config)).toBe(`sv-1:
  expire-entry: 1 waiting
  dropped 2023-11-14T22:13:20.000000Z expire-entry/00cd: CHOICE_REFUSED not yet
`)
  await type('jobs', 'retry', 'sv', '--config', config)
  const [{ jobs }] = JSON.parse(await type('jobs', 'list', 'sv', '--config', config, '--json'))
  expect(jobs.failures).toEqual([])
  expect(jobs.queues['expire-entry']).toEqual({ waiting: 2, delayed: 0, active: 0 })
  client.disconnect()
})

it('`jobs list` shows the renewals that a validator does not run, and why', async () => {
  await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const ofValidator = dataDirectory(join(root, 'v'))
  makeMember(ofValidator, 'validator', {
    name: 'v',
    createdAtMicros: 1,
    url: null,
    engineAddress: null,
  })
  copyFileSync(ofValidator.memberFile('v'), join(members, 'v.member.json'))
  const config = join(root, 'validator.env')
  const lines = [
    'QS_NAME=v',
    `QS_DATA_DIR=${ofValidator.path}`,
    'QS_SYNCHRONIZER_PORT=4624',
    `QS_GENESIS=${genesisFile}`,
    `QS_MEMBERS=${members}`,
    'QS_JWKS_URL=https://issuer.example/jwks',
    `QS_REDIS=unix://${redis.socketPath}`,
  ]
  writeFileSync(config, lines.join('\n'))
  const client = redis.connect()
  const party = `alice::1220${'0'.repeat(64)}`
  const record = { user: { isDeactivated: true }, rights: [{ kind: 'CanActAs', party }] }
  await client.hset('{users}:records', 'alice', JSON.stringify(record))
  await client.hset('{users}:auto-renewals', {
    '00aa': JSON.stringify({ party, user: 'alice' }),
    '00bb': JSON.stringify({ party, user: 'bob' }),
    '00cc': party,
  })
  expect(await type('jobs', 'list', 'validator', '--config', config)).toBe(`v: no job waits
  paused renewal 00aa: user alice is deactivated
  paused renewal 00bb: user bob is deleted
  paused renewal 00cc: no user may act as its party
`)
  const fields = Array.from({ length: 100 }, (_, index) => [`01${index}`, party]).flat()
  await client.hset('{users}:auto-renewals', ...fields)
  const listed = await type('jobs', 'list', 'validator', '--config', config)
  expect(listed.trimEnd().split('\n').at(-1)).toBe('  and 3 more paused renewals')
  client.disconnect()
})

it('`jobs list` starts the Redis of a stopped node', async () => {
  expect(await type('jobs', 'list', 'sv', '--config', configFile())).toBe('sv-1: no job waits\n')
})

it('--config requires `sv` or `validator`; without a cluster, --config is required', async () => {
  await expect(type('jobs', 'list', '--config', configFile())).rejects.toThrow(
    '`sv` or `validator`',
  )
  await expect(type('jobs', 'list')).rejects.toThrow('no cluster runs on this machine')
})

/** `log verify` and `log repair` of the operator of a synchronizer, with its Redis and files of super-validators. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { writeWholeLog } from '@quorumscan/log'
import type { MemberFileOf, Role } from '@quorumscan/operator'
import { acquireLock, checkerOf, dataDirectory } from '@quorumscan/operator'
import { writeArchive } from '@quorumscan/operator/backup'
import { createGenesis, hashGenesis, logGenesisOf, makeMember } from '@quorumscan/operator/ceremony'
import { openOperatorLog, readLogConfig } from '@quorumscan/operator/log'
import { each, signedGroups } from '@quorumscan/operator/testing'
import { required, startRedis } from '@quorumscan/testkit'
import { it as base, captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import type { Genesis } from '@quorumscan/verifier'
import { expect } from 'vitest'
import { setHintOption } from './options.ts'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

const END = 40
const root = directoryOfFile()
const machine = {
  env: process.env,
  clock: createSystemClock(),
  get redisServer() {
    return required('redis')
  },
}
const shown = join(root, 'shown')
mkdirSync(shown)

function enroll<R extends Role>(role: R, name: string): MemberFileOf<R> {
  const directory = dataDirectory(join(root, name))
  const isSv = role === 'super-validator'
  const url = isSv ? `https://${name}.example` : null
  const engineAddress = isSv ? `${name}.example:26656` : null
  const member = makeMember(directory, role, { name, createdAtMicros: 1, url, engineAddress })
  copyFileSync(directory.memberFile(name), join(shown, `${name}.member.json`))
  return member
}
const names = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
const svs = names.map((name) => enroll('super-validator', name))
const orderer = enroll('synchronizer', 'orderer')
const genesis = createGenesis([...svs, orderer], { driver: 'redis', overrides: {} })
const directory = dataDirectory(join(root, 'orderer'))
const redisDirectory = directory.redisDirectory('orderer')

/** The file of `run synchronizer`. */
function configFileOf(of: Genesis, more: readonly string[] = []): string {
  const genesisFile = join(root, `${of.ordering.driver}.json`)
  writeFileSync(genesisFile, JSON.stringify(of))
  const file = join(root, 'orderer.env')
  const lines = [
    'QS_NAME=orderer',
    `QS_DATA_DIR=${directory.path}`,
    `QS_GENESIS=${genesisFile}`,
    `QS_MEMBERS=${shown}`,
  ]
  writeFileSync(file, [...lines, ...more].join('\n'))
  return file
}

const groupsOf = (from: number, to: number) =>
  signedGroups({ keyFile: directory.keyFile('orderer'), genesis }, from, to)

/** As `backup sv --log` writes it. */
async function sent(name: string, from: number, to: number, of = genesis): Promise<string> {
  const file = join(root, `${name}.backup`)
  rmSync(file, { force: true })
  const header = { role: 'sv' as const, name, genesisHash: hashGenesis(of) }
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  await writeArchive(
    file,
    { ...header, takenAt: '', variables: {} },
    each([
      { kind: 'head' as const, offset: to },
      ...groupsOf(from, to).map(({ bytes, signature }) => ({
        kind: 'group' as const,
        bytes: base64(bytes),
        signature: base64(signature),
      })),
    ]),
  )
  return file
}

const it = base
  /** The configuration of a stopped synchronizer whose log has the entries up to `END`. */
  .extend('configFile', async ({ resources }) => {
    resources.onClose(() => setHintOption('--config', null))
    for (const path of ['redis', 'logs'])
      rmSync(join(directory.path, path), { recursive: true, force: true })
    const file = configFileOf(genesis)
    await using own = await openOperatorLog({ ...machine, config: readLogConfig(file) })
    const log = {
      redis: own.redis,
      genesis: logGenesisOf(genesis),
      signal: new AbortController().signal,
    }
    await writeWholeLog(log, each(groupsOf(1, END)), [])
    return file
  })
  .extend(
    'typeWith',
    ({ configFile }) =>
      async (redisServer: string, ...args: readonly string[]) => {
        using output = captureOutput()
        const environment = testEnvironment({ redisServer })
        const code = await runCommandLine(['log', ...args, '--config', configFile], environment)
        return { code, text: output.stdout.replace(/\s+/g, ' ') }
      },
  )
  .extend(
    'type',
    ({ typeWith }) =>
      (...args: readonly string[]) =>
        typeWith(required('redis'), ...args),
  )

/** Changes a byte of the entry at this offset. */
function flip(offset: number): void {
  const files = join(redisDirectory, 'appendonlydir')
  for (const name of readdirSync(files)) {
    const bytes = readFileSync(join(files, name))
    const at = bytes.indexOf(`entry ${offset}`)
    if (at >= 0) bytes[at] = (bytes[at] ?? 0) ^ 0xff
    writeFileSync(join(files, name), bytes)
  }
}

it('`log verify` reads the log with Redis up or down, and reports the damaged offset', async ({
  type,
  configFile,
}) => {
  const whole = {
    code: 0,
    text: expect.stringContaining('The log is whole, from its start to offset 40'),
  }
  expect(await type('verify')).toEqual(whole)
  {
    await using _ = await openOperatorLog({ ...machine, config: readLogConfig(configFile) })
    expect(await type('verify')).toEqual(whole)
  }
  flip(12)
  const { code, text } = await type('verify')
  expect([code, text]).toEqual([1, expect.stringContaining('The log is damaged at offset 12')])
  expect(text).toContain(`quorumscan log repair --config ${configFile}`)
})

it('refills damaged entries and a lost end from the files of n - f super-validators', async ({
  type,
}) => {
  flip(12)
  const two = [await sent('sv-1', 5, END), await sent('sv-2', 5, END)]
  const few = await type('repair', '--log', ...two)
  expect(few.code).toBe(1)
  expect(few.text).toContain(
    'Nothing was changed: 3 super-validators must provide their stored groups; the files of sv-3 and sv-4 are missing.',
  )
  const three = [
    await sent('sv-1', 5, END + 5),
    await sent('sv-3', 9, END + 5),
    await sent('sv-2', 5, END),
  ]
  const { code, text } = await type('repair', '--log', ...three)
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(
      /^Refilled offset 12, offsets 41 to 45 from .* to offset 45\. .*`quorumscan run synchronizer --config /,
    ),
  ])
  expect(await type('verify')).toMatchObject({
    code: 0,
    text: expect.stringContaining('offset 45'),
  })
  expect(await type('repair', '--log', ...three)).toMatchObject({
    text: expect.stringContaining('there is nothing to repair'),
  })
  await (await acquireLock(directory, machine.clock))[Symbol.asyncDispose]() // It was released.
})

it('rebuilds files that Redis cannot load, if the operator accepts an unknown end', async ({
  type,
}) => {
  const files = join(redisDirectory, 'appendonlydir')
  for (const name of readdirSync(files).filter((one) => one.endsWith('.incr.aof')))
    writeFileSync(join(files, name), 'what is no append-only file of Redis')
  await expect(type('verify')).rejects.toThrow('`quorumscan log repair` repairs files')
  const logs = [
    '--log',
    ...(await Promise.all(names.slice(0, 3).map((name) => sent(name, 1, END)))),
  ]
  const { code, text } = await type('repair', ...logs)
  expect([code, text]).toEqual([
    1,
    expect.stringContaining('The same command with --cut drops all entries after offset'),
  ])
  expect((await type('repair', '--cut', ...logs)).code).toBe(0)
  expect(await type('verify')).toMatchObject({
    code: 0,
    text: expect.stringContaining('offset 40'),
  })
})

it('gives nothing up where the checker of Redis is missing, although the end is damaged', async ({
  type,
  typeWith,
}) => {
  const files = join(redisDirectory, 'appendonlydir')
  for (const name of readdirSync(files).filter((one) => one.endsWith('.incr.aof')))
    appendFileSync(join(files, name), 'what is this')
  const logs = [
    '--log',
    ...(await Promise.all(names.slice(0, 3).map((name) => sent(name, 1, END - 1)))),
  ]
  const before = readdirSync(files).map((name) => readFileSync(join(files, name)))
  const alone = join(root, 'alone', 'redis-server')
  mkdirSync(join(root, 'alone'), { recursive: true })
  writeFileSync(alone, `#!/bin/sh\nexec ${required('redis')} "$@"\n`)
  chmodSync(alone, 0o755)
  for (const cut of [[], ['--cut']])
    await expect(typeWith(alone, 'repair', ...cut, ...logs)).rejects.toThrow(
      `the log was not repaired: ${join(root, 'alone', 'redis-check-aof')} cannot be run (ENOENT)`,
    )
  expect(readdirSync(files).map((name) => readFileSync(join(files, name)))).toEqual(before)
  expect((await type('repair', ...logs)).text).toContain(
    `--cut drops all entries after offset ${END}.`,
  )
})

it('gives nothing up where the files are whole and Redis does not start', async ({
  type,
  typeWith,
}) => {
  const logs = ['--log', ...(await Promise.all(names.slice(0, 3).map((name) => sent(name, 1, 7))))]
  const failing = join(root, 'failing', 'redis-server')
  mkdirSync(join(root, 'failing'), { recursive: true })
  writeFileSync(failing, '#!/bin/sh\necho no memory >&2\nexit 1\n')
  chmodSync(failing, 0o755)
  symlinkSync(checkerOf(required('redis')), join(root, 'failing', 'redis-check-aof'))
  await expect(typeWith(failing, 'repair', '--cut', ...logs)).rejects.toThrow(
    'the log was not repaired: its files are not damaged, and its Redis does not start',
  )
  expect(await type('verify')).toMatchObject({ text: expect.stringContaining('offset 40') })
})

it('asks for consent before it rebuilds a log whose files are gone', async ({ type }) => {
  renameSync(redisDirectory, `${redisDirectory}.unmounted`)
  const logs = ['--log', ...(await Promise.all(names.slice(0, 3).map((name) => sent(name, 1, 7))))]
  expect(await type('repair', ...logs)).toMatchObject({
    code: 1,
    text: expect.stringContaining('Nothing was changed yet. The log has no entries.'),
  })
  expect((await type('repair', '--cut', ...logs)).code).toBe(0)
})

it('repairs no log of a running process, in an external Redis, or from unfit files', async ({
  type,
  configFile,
}) => {
  const foreign = await sent('sv-1', 1, END, { ...genesis, nonce: 'ab'.repeat(32) })
  await expect(type('repair', '--log', foreign)).rejects.toThrow('is a backup of another network')
  const ahead = [
    await sent('sv-1', 5, END + 1),
    await sent('sv-2', 5, END),
    await sent('sv-3', 5, END),
  ]
  expect(await type('repair', '--log', ...ahead)).toMatchObject({
    code: 1,
    text: expect.stringContaining('only sv-1 applied offset 41, and 2 must have them'),
  })
  {
    await using _lock = await acquireLock(directory, machine.clock)
    await expect(type('repair')).rejects.toThrow(/runs the processes of .* Stop that first/)
  }
  await using there = await startRedis()
  configFile = configFileOf(genesis, [`QS_LOG_REDIS=unix://${there.socketPath}`])
  expect((await type('verify')).text).toContain('The log is whole, from its start to offset 0')
  await expect(type('repair')).rejects.toThrow('the Redis that QS_LOG_REDIS names')
})

it('with the cometbft driver, refuses `log` commands and reports what to do instead', async ({
  configFile,
  type,
}) => {
  configFile = configFileOf(createGenesis(svs, { driver: 'cometbft', overrides: {} }))
  for (const command of ['verify', 'repair'])
    await expect(type(command)).rejects.toThrow(
      'stop it, delete `redis`, `engines` and `snapshots`',
    )
})

/** `run` with real processes: their checks before and after the start, and one that finds its configuration wrong. */
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { UsageError } from '@quorumscan/runtime'
import { freePort, required, startRedis, until } from '@quorumscan/testkit'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { afterAll, expect, it } from 'vitest'
import { makeMember } from '../ceremony/member.ts'
import type { Check } from '../checks/check.ts'
import { checkedOperator } from '../checks/operator.ts'
import { checkRunning } from '../checks/running.ts'
import { checkStart } from '../checks/start.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { findRole, type OperatorConfig, readOperatorConfig } from './operator-config.ts'
import { validateProcesses } from './operator-services.ts'
import { runOperator } from './run-operator.ts'

const root = directoryOfFile()
const members = join(root, 'members')
mkdirSync(members)
const clock = createSystemClock()
const ports = await Promise.all([freePort(), freePort(), freePort()])
const [nodePort, ordererPort, operatorPort] = ports
const ordererUrl = `http://127.0.0.1:${ordererPort}`

function enroll<R extends 'super-validator' | 'synchronizer'>(role: R, name: string) {
  const directory = dataDirectory(join(root, name))
  const url = role === 'synchronizer' ? null : `http://127.0.0.1:${nodePort}`
  const member = makeMember(directory, role, { name, createdAtMicros: 1, url, engineAddress: null })
  copyFileSync(directory.memberFile(name), join(members, `${name}.member.json`))
  return member
}

const document = createGenesis(
  [enroll('super-validator', 'sv-1'), enroll('synchronizer', 'orderer')],
  { driver: 'redis', overrides: {} },
)
writeFileSync(join(root, 'genesis.json'), JSON.stringify(document))
cpSync(join(root, 'sv-1'), join(root, 'copy'), { recursive: true })
const token = 'a-token-of-22-letters_'
writeFileSync(join(root, 'token'), token)
writeFileSync(join(root, 'other-token'), `${token}_`)

const programOf = async (app: string) => {
  const code = `import '../../../../apps/${app}/src/main.ts'`
  const program = await bundleProgram(code, import.meta.dirname)
  afterAll(() => program[Symbol.dispose]())
  return program.file
}
const entryFiles = {
  scan: await programOf('scan'),
  synchronizer: await programOf('synchronizer'),
  validator: await programOf('validator'),
}

function configOf(runs: 'sv' | 'synchronizer', variables: object) {
  const name = runs === 'sv' ? 'sv-1' : 'orderer'
  const all = {
    QS_NAME: name,
    QS_DATA_DIR: join(root, name),
    QS_GENESIS: join(root, 'genesis.json'),
    QS_MEMBERS: members,
    QS_LOG_LEVEL: 'warn',
    ...variables,
  }
  const file = join(root, `${name}.env`)
  const lines = Object.entries(all).map(([variable, value]) => `${variable}=${value}`)
  writeFileSync(file, lines.join('\n'))
  expect(findRole(file)).toBe(runs)
  return readOperatorConfig(runs, file, validateProcesses)
}

const given = { redisServer: required('redis'), env: process.env, clock }
const logTo = (said: string[]) => ({
  report: (sentence: string) => void said.push(sentence),
  pass: () => {},
})
const run = (config: OperatorConfig, said: string[] = []) =>
  runOperator({ ...given, config, entryFiles, log: logTo(said) })

it('stops all processes, without a restart, if one finds its configuration wrong', async () => {
  const said: string[] = []
  const nodes = { QS_NODES: 'sv-9=https://127.0.0.1:1' }
  expect(() => configOf('synchronizer', { QS_PORT: '0', ...nodes })).toThrow(
    'QS_NODES: the genesis has no node "sv-9"',
  )
  // As after a file was replaced between the check and the start.
  const synchronizer = join(root, 'misconfigured.mjs')
  writeFileSync(
    synchronizer,
    'console.error("QS_PORT is odd\\nQS_LATER is wrong\\n"); process.exitCode = 2',
  )
  await using running = await runOperator({
    ...given,
    config: configOf('synchronizer', { QS_PORT: '0' }),
    entryFiles: { ...entryFiles, synchronizer },
    log: logTo(said),
  })
  const failed = expect(running.failed).rejects
  await failed.toBeInstanceOf(UsageError)
  await failed.toThrow(/ orderer found its configuration wrong.*\nQS_LATER is wrong$/)
  expect(said.join()).not.toContain('started again')
})

it('stops all if its Redis holds more than its budget, which its files do not say', async () => {
  const full = dataDirectory(join(root, 'full'))
  cpSync(join(root, 'sv-1'), full.path, { recursive: true })
  {
    // A rewrite would replace the files while they are copied.
    const options = { appendonly: 'yes', appendfsync: 'always', 'auto-aof-rewrite-percentage': '0' }
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    await using redis = await startRedis(args)
    const client = redis.connect()
    for (let index = 0; index < 70; index++) await client.set(`key ${index}`, 'x'.repeat(2 ** 20))
    client.disconnect()
    const files = 'appendonlydir'
    const target = join(full.redisDirectory('sv-1'), files)
    cpSync(join(redis.directory, files), target, { recursive: true })
  }
  const config = configOf('sv', {
    QS_DATA_DIR: full.path,
    QS_LOG: ordererUrl,
    QS_LOG_TOKEN_FILE: join(root, 'token'),
    QS_PORT: String(await freePort()),
    QS_REDIS_MEMORY_MIB: '64',
  })
  await expect(run(config)).rejects.toThrow(
    /^everything was stopped: QS_REDIS_MEMORY_MIB allows 64 MiB, but its Redis holds \d+ MiB: .*Set QS_REDIS_MEMORY_MIB to \d+ or more, and run again$/,
  )
})

/** The states of the checks, by their names. */
const statesOf = (checks: readonly Check[]) =>
  Object.fromEntries(checks.map(({ name, state }) => [name, state]))

it('checks an operator before its start and while it runs, and starts none on a used port', async () => {
  const log = { QS_LOG: ordererUrl, QS_LOG_TOKEN_FILE: join(root, 'token') }
  const sv = checkedOperator({
    ...given,
    config: configOf('sv', {
      ...log,
      QS_PORT: String(nodePort),
      QS_OPERATOR_ADDRESS: `127.0.0.1:${operatorPort}`,
    }),
  })
  const orderer = configOf('synchronizer', {
    QS_PORT: String(ordererPort),
    QS_PEER_TOKENS_FILE: join(root, 'token'),
  })
  // One that may heal by itself is a warning.
  const before = {
    configuration: 'ok',
    keys: 'ok',
    directory: process.getuid?.() === 0 ? 'warning' : 'ok',
    addresses: 'ok',
    Redis: 'ok',
    genesis: 'ok',
    disk: 'ok',
    synchronizer: 'warning',
    'other machine': 'ok',
  }
  expect(statesOf(await checkStart(sv, false))).toEqual(before)
  expect(await checkRunning(sv, null)).toMatchObject({
    isRunning: false,
    checks: [{ name: 'processes', state: 'failed' }, { name: 'genesis' }, { name: 'disk' }],
  })

  await using _orderer = await run(orderer)
  const said: string[] = []
  await using _sv = await run(sv.config, said)
  await until('the node to be ready', () => said.includes('sv-1 is ready') || undefined)
  await until('a signed state', async () => {
    const { checks } = await checkRunning(sv, null)
    return checks.every(({ state }) => state === 'ok') || undefined
  })
  for (const path of ['/metrics', '/livez', '/readyz', '/console', '/<script>', '/%zz']) {
    const { headers } = await fetch(`http://127.0.0.1:${operatorPort}${path}`)
    expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none';/)
    expect(headers.get('x-content-type-options'), path).toBe('nosniff')
  }
  const { isRunning, checks } = await until('the memory of its Redis to be measured', async () => {
    const found = await checkRunning(checkedOperator({ ...given, config: orderer }), root)
    return found.checks.some(({ name }) => name === 'memory') ? found : undefined
  })
  expect([isRunning, statesOf(checks)]).toEqual([
    true,
    {
      Redis: 'ok',
      synchronizer: 'ok',
      log: 'ok',
      votes: 'ok',
      version: 'ok',
      disk: 'ok',
      genesis: 'ok',
      peers: 'ok',
      clock: 'ok',
      memory: 'ok',
      backup: 'warning',
    },
  ])

  // Its own processes hold its addresses.
  const { addresses: _, 'other machine': __, ...others } = before
  expect(statesOf(await checkStart(sv, true))).toEqual({ ...others, synchronizer: 'ok' })
  const wrong = configOf('sv', {
    ...log,
    QS_PORT: String(nodePort),
    QS_LOG_TOKEN_FILE: join(root, 'other-token'),
  })
  const refused = await checkStart(checkedOperator({ ...given, config: wrong }), true)
  expect(refused.find(({ name }) => name === 'synchronizer')).toMatchObject({
    state: 'warning',
    detail: `${ordererUrl} refuses the token or certificate of this operator`,
  })
  const otherGenesis = join(root, 'other-genesis.json')
  writeFileSync(otherGenesis, JSON.stringify({ ...document, recordTime: document.recordTime + 1 }))
  const config = configOf('sv', {
    ...log,
    QS_PORT: String(nodePort),
    QS_GENESIS: otherGenesis,
    QS_DATA_DIR: join(root, 'copy'),
  })
  await expect(run(config)).rejects.toBeInstanceOf(UsageError)
  const other = dataDirectory(join(root, 'other'))
  cpSync(dataDirectory(join(root, 'orderer')).keyFile(''), other.keyFile(''), { recursive: true })
  const second = run({ ...orderer, directory: other })
  await expect(second).rejects.toThrow(
    `nothing was started, because a check failed:\naddresses: 127.0.0.1:${ordererPort} (QS_HOST, QS_PORT) is used by another process`,
  )
})

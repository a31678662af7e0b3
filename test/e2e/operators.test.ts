/**
 * Operators who share no data directory: each makes its keys, all make the same genesis, and each runs its own processes
 * by `run`: the smallest network with one synchronizer, and four super-validators that order together. Of the long tests.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, until } from '@quorumscan/testkit'
import { enginePath } from 'quorumscan/testing/engine'
import { afterEach, expect, it } from 'vitest'
import { createUser, lookup, untilFound } from './client.ts'

const IS_LONG = process.env['LONG'] === '1'
/** So many super-validators. */
const COUNTS = { redis: 1, cometbft: 4 } as const
type Ordering = keyof typeof COUNTS
const BIN = join(import.meta.dirname, '../../cluster/bin/quorumscan.mjs')

async function type(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, ...args])
  return stdout.trim()
}

type Operator = {
  readonly role: 'sv' | 'synchronizer' | 'validator'
  readonly name: string
  readonly directory: string
  readonly port: number
  readonly enginePort: number
  readonly configFile: string
}

let root = ''
const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0).filter(({ exitCode }) => exitCode === null)) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  await rm(root, { recursive: true, force: true })
})

/** What it prints is kept, and shown where a test fails. */
function run({ role, configFile }: Operator) {
  const child = spawn(process.execPath, [BIN, 'run', role, '--config', configFile])
  running.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  return { child, output: () => output }
}

async function createNetwork(ordering: Ordering) {
  root = await mkdtemp(join(tmpdir(), 'qs-operators-'))
  const operator = async (role: Operator['role'], name: string): Promise<Operator> => ({
    ...{ role, name, directory: join(root, name), configFile: join(root, name, 'run.env') },
    port: await freePort(),
    enginePort: await freePort(),
  })
  const names = Array.from({ length: COUNTS[ordering] }, (_, index) => `sv-${index + 1}`)
  const svs = await Promise.all(names.map((name) => operator('sv', name)))
  const validator = await operator('validator', 'v')
  const synchronizers = ordering === 'redis' ? [await operator('synchronizer', 'orderer')] : []
  const all = [...synchronizers, ...svs, validator]

  const shared = join(root, 'shown')
  await mkdir(shared)
  for (const { role, name, directory, port, enginePort } of all) {
    const flags = [
      ...['--name', name, '--out', directory, '--role', role === 'sv' ? 'super-validator' : role],
      ...(role === 'sv'
        ? ['--url', `http://127.0.0.1:${port}`, '--engine-address', `127.0.0.1:${enginePort}`]
        : []),
      '--json',
    ]
    const { memberFile } = JSON.parse(await type('keys', 'new', ...flags))
    await copyFile(memberFile, join(shared, `${name}.member.json`))
  }
  const members = [...synchronizers, ...svs].map(({ name }) => join(shared, `${name}.member.json`))
  const genesis = join(root, 'genesis.json')
  const rules = ['--set', 'coin.tickMicros=1s', '--ordering', ordering, '--out', genesis]
  await type('genesis', 'create', ...members, ...rules)

  for (const { role, name, directory, port, enginePort, configFile } of all) {
    const variables: Record<string, string | number> = {
      QS_NAME: name,
      QS_DATA_DIR: directory,
      QS_GENESIS: genesis,
      QS_MEMBERS: shared,
      QS_PORT: port,
      QS_LOG_LEVEL: 'warn',
    }
    if (ordering === 'cometbft') {
      variables['QS_SYNCHRONIZER_PORT'] = await freePort()
      variables['QS_ENGINE_ADDRESS'] = `127.0.0.1:${enginePort}`
      variables['QS_COMETBFT'] = enginePath ?? ''
    } else if (role === 'synchronizer') {
      variables['QS_PEER_TOKENS_FILE'] = join(root, 'peers')
    } else {
      variables['QS_LOG'] = `http://127.0.0.1:${synchronizers[0]?.port}`
      variables['QS_LOG_TOKEN_FILE'] = join(directory, 'token')
      await writeFile(join(directory, 'token'), `token-of-${name}-for-the-synchronizer`)
    }
    if (role === 'validator') {
      variables['QS_JWT_SECRET_FILE'] = join(directory, 'secrets', 'jwt')
      variables['QS_ALLOW_PRIVATE_ADDRESSES'] = '1'
      await mkdir(join(directory, 'secrets'), { recursive: true })
      await writeFile(join(directory, 'secrets', 'jwt'), 'ab'.repeat(32))
    }
    const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}\n`)
    await writeFile(configFile, lines.join(''))
  }
  const followers = [...svs, validator].map(({ name }) => `token-of-${name}-for-the-synchronizer`)
  await writeFile(join(root, 'peers'), `${followers.join('\n')}\n`)
  const client = {
    urls: { validator: `http://127.0.0.1:${validator.port}` },
    token: (user: string) => type('token', user, '--data-dir', validator.directory),
  }
  return { all, svs, validator, client }
}

/** Starts a network, does what an operator may do wrong and what may end by itself, and stops it. */
async function expectNetworkToRun(ordering: Ordering): Promise<void> {
  const { all, svs, client } = await createNetwork(ordering)
  const runs = all.map((operator) => ({ operator, ...run(operator) }))
  const untilSaid = (text: string, count = 1) =>
    until(text, () => {
      const said = runs.map(({ output }) => output()).join('\n')
      const ended = runs.find(({ child }) => child.exitCode !== null)
      if (ended !== undefined) throw new Error(`${ended.operator.name} ended: ${said}`)
      return said.split(text).length > count ? true : undefined
    })
  for (const { name } of all) await untilSaid(`${name} is ready`)

  const alice = await createUser(client, 'alice')
  await alice.pay('alice.unverified.ns')
  await untilFound(client, 'alice.unverified.ns')

  // A second one would end what the first one runs.
  const [sv] = svs
  if (sv === undefined) throw new Error('no super-validator')
  const twice = run(sv)
  await once(twice.child, 'exit')
  expect(twice.child.exitCode).toBe(1)
  expect(twice.output()).toContain('runs what is in')

  // What ends is started again: the process that has the port, whoever that is now.
  const records = JSON.parse(await readFile(join(sv.directory, 'processes.json'), 'utf8'))
  const { pid } = records.content.find((one: { id: string }) => one.id === sv.name)
  process.kill(pid, 'SIGKILL')
  await until('another process', async () => {
    const text = await readFile(join(sv.directory, 'processes.json'), 'utf8')
    const again = JSON.parse(text).content.find((one: { id: string }) => one.id === sv.name)
    return again !== undefined && again.pid !== pid ? true : undefined
  })
  await until('the answer of all', async () => {
    const { status } = await lookup(client, 'alice.unverified.ns', { 'x-quorum': 'all' })
    return status === 200 ? true : undefined
  })

  // Whoever stops has nothing left running.
  for (const { child } of runs) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    expect(child.exitCode).toBe(0)
  }
  for (const { directory } of all) {
    const { content } = JSON.parse(await readFile(join(directory, 'processes.json'), 'utf8'))
    expect(content).toEqual([])
  }
}

it.runIf(IS_LONG)('operators make and run a network that one synchronizer orders', () =>
  expectNetworkToRun('redis'),
)

it.runIf(IS_LONG && enginePath !== null)(
  'operators make and run a network that orders together',
  () => expectNetworkToRun('cometbft'),
)

it.runIf(IS_LONG)('a wrong configuration ends at once, with all that is wrong', async () => {
  const { svs } = await createNetwork('redis')
  const [sv] = svs
  if (sv === undefined) throw new Error('no super-validator')
  const text = await readFile(sv.configFile, 'utf8')
  const wrong = `${text.replace(/^QS_LOG=.*$/m, 'QS_LOG=nowhere')}QS_PORT=many\nQS_RATE_LIMTI=5\n`
  await writeFile(sv.configFile, wrong)
  const { child, output } = run(sv)
  await once(child, 'exit')
  expect(child.exitCode).toBe(2)
  expect(output()).toContain('QS_LOG: "nowhere" is no https address')
  expect(output()).toContain('QS_PORT is no integer')
  expect(output()).toContain('QS_RATE_LIMTI is no variable of these')
})

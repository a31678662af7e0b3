/**
 * The last line of a `run` that ends has the reason: the command is typed, and its output is not a terminal, as of a service.
 * Two operators of a small network run meanwhile.
 *
 * @module-tag rest
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Resources } from '@quorumscan/base'
import { freePort, startRedis, untilTrue } from '@quorumscan/testkit'
import { it as base, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ROOT } from '../support/root.ts'

const BIN = join(ROOT, 'apps/cli/bin/quorumscan.mjs')
const root = directoryOfFile()
const at = (name: string) => join(root, name)
/** A user to whom the rights of files apply: they do not apply to root. */
const isRoot = process.getuid?.() === 0
const USER = isRoot ? { uid: 65_534, gid: 65_534 } : {}
const TOKEN = 'ab'.repeat(16)
type Line = { readonly level: string; readonly name: string; readonly msg: string }

type Variables = Readonly<Record<string, string | number>>

function give(...files: readonly string[]): void {
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', ...files])
}

function write(name: string, text: string): string {
  writeFileSync(at(name), text)
  give(at(name))
  return at(name)
}

/** Starts `run` with these variables. */
function start(role: string, name: string, variables: Variables) {
  const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}\n`)
  const configFile = write(`${name}.env`, lines.join(''))
  const child = spawn(process.execPath, [BIN, 'run', role, '--config', configFile], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...USER,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  const ended = once(child, 'close')
  return { child, output: () => output, ended }
}

/** Runs until the process is ready, and ends with the tests. */
async function keep(resources: Resources, ...args: Parameters<typeof start>): Promise<void> {
  const { child, output, ended } = start(...args)
  resources.onClose(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await untilTrue(`${args[1]} to be ready`, () => {
    if (child.exitCode !== null) throw new Error(output())
    return output().includes(`${args[1]} is ready`)
  })
}

const it = base
  /** Variables of a validator that could run. */
  .extend('validator', { scope: 'file' }, async ({ fileResources }): Promise<Variables> => {
    const [nodePort, ordererPort, port] = await Promise.all([freePort(), freePort(), freePort()])
    give(root)
    const type = (...args: readonly string[]) =>
      execFileSync(process.execPath, [BIN, ...args], { cwd: root, ...USER })
    const url = `http://127.0.0.1:${nodePort}`
    for (const [role, name, ...flags] of [
      ['super-validator', 'sv-1', '--url', url],
      ['synchronizer', 'orderer'],
      ['validator', 'v'],
    ] as const)
      type('keys', 'new', '--role', role, '--name', name, '--out', name, ...flags)
    const members = ['sv-1', 'orderer', 'v'].map((name) => `${name}/${name}.member.json`)
    type('genesis', 'create', ...members, '--set', 'devnet=true', '--out', 'genesis.json')
    mkdirSync(at('members'))
    for (const member of members)
      write(`members/${member.split('/')[1]}`, readFileSync(at(member), 'utf8'))
    give(at('members'))
    const of = (name: string, own: Variables): Variables => ({
      QS_NAME: name,
      QS_DATA_DIR: at(name),
      QS_GENESIS: at('genesis.json'),
      QS_MEMBERS: at('members'),
      QS_LOG_LEVEL: 'warn',
      ...own,
    })
    const log = {
      QS_LOG: `http://127.0.0.1:${ordererPort}`,
      QS_LOG_TOKEN_FILE: write('token', TOKEN),
    }
    const tokens = { QS_PEER_TOKENS_FILE: write('tokens', `${TOKEN}\n`) }
    // It orders once the node confirms its clock.
    await Promise.all([
      keep(fileResources, 'synchronizer', 'orderer', {
        ...of('orderer', { QS_PORT: ordererPort }),
        ...tokens,
      }),
      keep(fileResources, 'sv', 'sv-1', { ...of('sv-1', { QS_PORT: nodePort }), ...log }),
    ])
    return of('v', {
      ...log,
      QS_PORT: port,
      QS_JWT_SECRET_FILE: write('jwt', 'ab'.repeat(32)),
      QS_ALLOW_PRIVATE_ADDRESSES: 1,
    })
  })
  /** The same, with a Redis of one's own that its user reaches. */
  .extend('withRedis', ({ validator, resources }) => async (...args: readonly string[]) => {
    const port = await freePort()
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
    const policy = ['--maxmemory-policy', 'noeviction']
    const redis = resources.opened(
      await startRedis([...durable, ...policy, '--port', `${port}`, ...args]),
    )
    return { redis, variables: { ...validator, QS_REDIS: `redis://127.0.0.1:${port}` } }
  })
  /** The exit status of a `run` of the validator, and its last line. */
  .extend('runToItsEnd', () => async (variables: Variables) => {
    const { child, output, ended } = start('validator', 'v', variables)
    await ended
    const lines = output().trim().split('\n')
    const parsed = lines.map((line): Line => JSON.parse(line))
    const last = parsed.at(-1) as Line
    expect(last, output()).toMatchObject({ level: 'error' })
    // One reason, and not several lines of which the first has it.
    expect(parsed.filter(({ level, name }) => level === 'error' && name === last.name)).toEqual([
      last,
    ])
    return `${child.exitCode} ${last.name}: ${last.msg.replaceAll(root, 'DIR')}`
  })

it('a member that the genesis lacks, as one to trust', async ({ validator, runToItsEnd }) => {
  expect(await runToItsEnd({ ...validator, QS_TRUST_MEMBERS: 'sv-1,sv-9' })).toMatch(
    /^2 validator\.run: .*\bDIR\/v\.env is wrong:\nQS_TRUST_MEMBERS: .*sv-9.*\n.*Correct it/s,
  )
})

it('a key that its user cannot read, or all can', async ({ validator, runToItsEnd }) => {
  const key = at('v/keys/v.participant')
  const sentence = (reason: string) =>
    expect.stringMatching(
      new RegExp(
        `^2 validator\\.run: .*\\nQS_DATA_DIR, QS_NAME: DIR/v/keys/v\\.participant .*${reason}`,
        's',
      ),
    )
  try {
    chmodSync(key, 0o000)
    expect(await runToItsEnd(validator)).toEqual(sentence('read'))
    chmodSync(key, 0o644)
    expect(await runToItsEnd(validator)).toEqual(sentence('chmod'))
  } finally {
    chmodSync(key, 0o600)
  }
})

it('the genesis of another network', async ({ validator, runToItsEnd }) => {
  const genesis = JSON.parse(readFileSync(at('genesis.json'), 'utf8'))
  const other = write('other.json', JSON.stringify({ ...genesis, nonce: '00'.repeat(32) }))
  expect(await runToItsEnd({ ...validator, QS_GENESIS: other })).toMatch(
    /^2 v\.run: nothing was started, because a check failed:\ngenesis: QS_GENESIS has the hash .*, but sv-1 has .*\. Fetch the genesis/,
  )
})

it('a port in use', async ({ validator, runToItsEnd }) => {
  const { port } = new URL(String(validator['QS_LOG']))
  expect(await runToItsEnd({ ...validator, QS_PORT: port })).toMatch(
    new RegExp(
      `^1 v\\.run: nothing was started.*\\naddresses: 127\\.0\\.0\\.1:${port} \\(QS_HOST, QS_PORT\\) is used`,
    ),
  )
})

it('a Redis of one’s own that takes no writes', async ({ withRedis, runToItsEnd }) => {
  const { variables } = await withRedis('--replicaof', '127.0.0.1', '1')
  expect(await runToItsEnd(variables)).toMatch(
    /^1 v\.run: nothing was started.*\nRedis: QS_REDIS=redis:\/\/127\.0\.0\.1:\d+: .*read-only replica of 127\.0\.0\.1:1; .* or its sentinels\. docs/s,
  )
})

it('a wrong password of Redis', async ({ withRedis, runToItsEnd }) => {
  const { redis, variables } = await withRedis()
  const admin = redis.connect()
  await admin.config('SET', 'requirepass', 'known')
  admin.disconnect()
  expect(await runToItsEnd(variables)).toMatch(
    /^1 v\.run: .*\nRedis: QS_REDIS_PASSWORD_FILE is not set: /s,
  )
  const file = write('password', 'unknown')
  expect(await runToItsEnd({ ...variables, QS_REDIS_PASSWORD_FILE: file })).toMatch(
    /^1 v\.run: .*\nRedis: QS_REDIS_PASSWORD_FILE=DIR\/password: it refuses this user and password/s,
  )
})

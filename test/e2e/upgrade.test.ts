/**
 * Separate operators run different releases at the same time. One release knows a newer protocol version, and another
 * also stores replicas in a different layout. Operators install them one after the other, but two install the other
 * layout at the same time. They vote for the version without a late member. Lookups and registrations continue.
 *
 * @module-tag long
 * @module-tag upgrade
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keyPairFromSeed, randomHex, systemRandom } from '@quorumscan/base'
import { encodeEntry, tapCommand } from '@quorumscan/ledger'
import { createLogClient } from '@quorumscan/log'
import { createScan } from '@quorumscan/sdk'
import {
  createDirectory,
  freePort,
  required,
  send,
  type TestDirectory,
  until,
} from '@quorumscan/testkit'
import { hashGenesis, memberOf, membersOf } from '@quorumscan/verifier'
import { afterEach, expect, it } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { copySoftware, newestKnown, nextVersion, OTHER_LAYOUT } from '../support/software.ts'

const ROOT = join(import.meta.dirname, '../..')
const BIN = join(ROOT, 'apps/cli/bin/quorumscan.mjs')
/** The command that also runs a local cluster: only it issues development tokens. */
const CLUSTER_BIN = join(ROOT, 'cluster/bin/quorumscan.mjs')
const ALICE = 'alice.unverified.ns'
const MEMBER_COUNT = 4
/** In coin times 10^10: the limit of a tap in the newer version is a million coin; the test requests two million. */
const TAP_MAX = 10n ** 16n
const TAP = 2n * TAP_MAX

const directories: TestDirectory[] = []
const operators: Operator[] = []
afterEach(async () => {
  await Promise.all(operators.splice(0).map(stop))
  for (const one of directories.splice(0)) one[Symbol.dispose]()
})

type Operator = {
  readonly role: 'sv' | 'synchronizer' | 'validator'
  readonly name: string
  readonly directory: string
  readonly url: string
  readonly configFile: string
  running: { readonly child: ChildProcess; output: string } | null
}

async function cli(bin: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args])
  return stdout.trim()
}

/** Starts the operator's processes with this software. */
function start(operator: Operator, bin: string): void {
  const { role, configFile } = operator
  const child = spawn(process.execPath, [bin, 'run', role, '--config', configFile])
  const running = { child, output: '' }
  operator.running = running
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      running.output += String(chunk)
    })
}

async function stop(operator: Operator): Promise<void> {
  const { running } = operator
  operator.running = null
  if (running === null || running.child.exitCode !== null) return
  const ended = once(running.child, 'exit')
  running.child.kill('SIGTERM')
  await ended
}

function untilReady(operator: Operator): Promise<unknown> {
  const { name } = operator
  return until(`${name} to be ready`, () => {
    const { child, output } = operator.running ?? { child: { exitCode: 0 }, output: '' }
    if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`)
    return output.includes(`${name} is ready`) ? true : undefined
  })
}

async function upgrade(bin: string, ...some: readonly Operator[]): Promise<void> {
  await Promise.all(some.map(stop))
  for (const operator of some) start(operator, bin)
  await Promise.all(some.map(untilReady))
}

/** Operators with separate data directories, and one synchronizer. */
async function createNetwork() {
  required('redis')
  const temporary = createDirectory()
  directories.push(temporary)
  const { path: root } = temporary
  const membersDirectory = join(root, 'shown')
  await mkdir(membersDirectory)
  const add = async (role: Operator['role'], name: string): Promise<Operator> => {
    const directory = join(root, name)
    const url = `http://127.0.0.1:${await freePort()}`
    const configFile = join(directory, 'run.env')
    const kind = role === 'sv' ? 'super-validator' : role
    const flags = ['--name', name, '--out', directory, '--role', kind, '--json']
    const address = role === 'sv' ? ['--url', url] : []
    const { memberFile } = JSON.parse(await cli(BIN, 'keys', 'new', ...flags, ...address))
    await copyFile(memberFile, join(membersDirectory, `${name}.member.json`))
    const operator = { role, name, directory, url, configFile, running: null }
    operators.push(operator)
    return operator
  }
  const names = Array.from({ length: MEMBER_COUNT }, (_, index) => `sv-${index + 1}`)
  const [svs, synchronizer, validator] = await Promise.all([
    Promise.all(names.map((name) => add('sv', name))),
    add('synchronizer', 'orderer'),
    add('validator', 'v'),
  ])
  const genesis = join(root, 'genesis.json')
  const members = [...names, 'orderer'].map((name) => join(membersDirectory, `${name}.member.json`))
  // Payments stay locked for three rounds of ten minutes, so that no lock expires while too few members are up.
  await cli(BIN, 'genesis', 'create', ...members, '--set', 'devnet=true', '--out', genesis)
  const secret = join(validator.directory, 'secrets/jwt')
  await mkdir(join(validator.directory, 'secrets'), { recursive: true })
  await writeFile(secret, 'ab'.repeat(32))
  const tokenOf = (name: string) => `token-of-${name}-for-the-synchronizer`
  for (const { role, name, directory, url, configFile } of operators) {
    const variables = {
      QS_NAME: name,
      QS_DATA_DIR: directory,
      QS_GENESIS: genesis,
      QS_MEMBERS: membersDirectory,
      QS_PORT: new URL(url).port,
      QS_LOG_LEVEL: 'warn',
      ...(role === 'synchronizer'
        ? { QS_PEER_TOKENS_FILE: join(root, 'peers') }
        : { QS_LOG: synchronizer.url, QS_LOG_TOKEN_FILE: join(directory, 'token') }),
      ...(role === 'validator'
        ? { QS_JWT_SECRET_FILE: secret, QS_ALLOW_PRIVATE_ADDRESSES: '1' }
        : {}),
    }
    await writeFile(join(directory, 'token'), tokenOf(name))
    const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}\n`)
    await writeFile(configFile, lines.join(''))
  }
  await writeFile(join(root, 'peers'), `${operators.map(({ name }) => tokenOf(name)).join('\n')}\n`)
  return {
    root,
    svs,
    synchronizer,
    validator,
    genesisFile: genesis,
    client: {
      urls: { validator: validator.url },
      token: (user: string) => cli(CLUSTER_BIN, 'token', user, '--data-dir', validator.directory),
    },
  }
}

type Network = Awaited<ReturnType<typeof createNetwork>>

/** Repeats a lookup, and collects the wrong and failed answers. */
function readSteadily(name: string, lookUp: () => Promise<string>) {
  const stopping = new AbortController()
  const wrong: string[] = []
  let count = 0
  const run = async () => {
    while (!stopping.signal.aborted) {
      const answer = await lookUp().catch((error: Error) => `${error.name}: ${error.message}`)
      if (answer === 'verified') count++
      else wrong.push(`${name}: ${answer}`)
      await clock.delay(100)
    }
  }
  const running = run()
  return {
    /** Expects that at least one lookup was made and all were verified. */
    async end() {
      stopping.abort()
      await running
      expect(wrong).toEqual([])
      expect(count).toBeGreaterThan(0)
    },
  }
}

/** A lookup by votes through the proxy. Repeats it while the proxy has too few nodes. */
async function lookUpByVotes(client: Network['client']): Promise<string> {
  return await until('an answer of the proxy', async () => {
    const { status, headers } = await lookup(client, ALICE)
    return status === 502 || status === 503 ? undefined : headers.get('x-quorum-outcome')
  }).then(String)
}

/** Registers names one after the other. At the end lookups must find every name that was paid for. */
function registerSteadily(client: Network['client'], user: Awaited<ReturnType<typeof createUser>>) {
  const stopping = new AbortController()
  const paid: string[] = []
  /** Repeats work that the validator refuses while it restarts or has too many payments. Null: the work may be done. */
  const retry = async (work: () => Promise<string>): Promise<string | null> => {
    while (!stopping.signal.aborted) {
      const done = await work().catch((error: Error) => error)
      if (typeof done === 'string') return done
      if (done.message.includes('CONTRACT_NOT_FOUND')) return null
      await clock.delay(200)
    }
    return null
  }
  const run = async () => {
    for (let index = 0; !stopping.signal.aborted; index++) {
      const name = `load-${index}.unverified.ns`
      const request = await retry(() => user.request(name))
      if (request !== null && (await retry(() => user.accept(request))) !== null) paid.push(name)
      await clock.delay(200)
    }
  }
  const running = run()
  return {
    count: () => paid.length,
    async end() {
      stopping.abort()
      await running
      for (const name of paid) await untilFound(client, name)
    },
  }
}

/** The result of `/readyz`: "ready", "silent", a state, or a code. */
async function readinessOf({ role, url }: Operator): Promise<string> {
  const prefix = role === 'validator' ? '/api/validator' : ''
  const answer = await send(`${url}${prefix}/readyz`).catch(() => null)
  if (answer === null) return 'silent'
  if (answer.status === 200) return 'ready'
  const { code, details } = membersOf(answer.body)
  return String(code === 'NOT_READY' ? memberOf(details, 'state') : code)
}

/** Restarts two operators with this software. Returns their readiness between both being down and the first ready. */
async function upgradeBoth(
  bin: string,
  [sooner, later]: readonly [Operator, Operator],
): Promise<readonly { readonly sooner: string; readonly later: string }[]> {
  const seen: { sooner: string; later: string }[] = []
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      // The later one is read first, because it starts to work only after the other one is ready.
      const last = await readinessOf(later)
      seen.push({ sooner: await readinessOf(sooner), later: last })
      await clock.delay(20)
    }
  })()
  await upgrade(bin, sooner, later).finally(() => {
    isOver = true
  })
  await watching
  const downAt = ['sooner', 'later'].map((which) =>
    seen.findIndex((one) => one[which as 'sooner' | 'later'] === 'silent'),
  )
  expect(downAt).not.toContain(-1)
  const down = seen.slice(Math.max(...downAt))
  return down.slice(
    0,
    down.findIndex((one) => one.sooner === 'ready'),
  )
}

const untilReadiness = (operator: Operator, word: string) =>
  until(`${operator.name} to report ${word}`, async () =>
    (await readinessOf(operator)) === word ? true : undefined,
  )

/** Expects the same history on all nodes at the newest offset of the first one. Returns that offset. */
async function expectSameHistory(svs: readonly Operator[]): Promise<number> {
  const [first] = svs
  const { headers } = await send(`${first?.url}/v0/dso-party-id`)
  const offset = headers.get('x-ledger-offset') ?? ''
  const hashes = await Promise.all(
    svs.map(({ name, url }) =>
      until(`${name} to be at ${offset}`, async () => {
        const pinned = { headers: { 'x-read-at-offset': offset } }
        const { status, headers } = await send(`${url}/v0/dso-party-id`, pinned)
        return status === 200 ? headers.get('x-ledger-history-hash') : undefined
      }),
    ),
  )
  expect(new Set(hashes).size).toBe(1)
  return Number(offset)
}

it('no lookup fails while operators install newer software with another replica layout and vote for its version', async () => {
  const network = await createNetwork()
  const { root, svs, synchronizer, validator, client } = network
  const [sv1, sv2, sv3, sv4] = svs
  if (sv1 === undefined || sv2 === undefined || sv3 === undefined || sv4 === undefined)
    throw new Error('the network must have four super-validators')
  const newer = join(root, 'newer')
  const otherLayout = join(root, 'relaid')
  for (const operator of operators) start(operator, BIN)
  const newerBin = await copySoftware(newer, [nextVersion(TAP_MAX)])
  const otherLayoutBin = await copySoftware(otherLayout, [nextVersion(TAP_MAX), OTHER_LAYOUT])
  const version = await newestKnown(ROOT)
  expect(await newestKnown(newer)).toBe(version + 1)
  await Promise.all(operators.map(untilReady))

  const genesis = JSON.parse(await readFile(network.genesisFile, 'utf8'))
  const alice = await createUser(client, 'alice', '1000.0')
  await alice.pay(ALICE)
  await untilFound(client, ALICE)
  const bob = await createUser(client, 'bob', null)
  /** Submits a tap of two million coin without the checks of a participant. */
  const tapForBob = async () => {
    const seed = await readFile(join(validator.directory, 'keys/v.participant'), 'utf8')
    const keyPair = keyPairFromSeed(seed.trim())
    const { contract } = (await send(`${sv1.url}/v0/dso`)).body.coin_rules
    const argument = { coinRules: contract.contract_id, receiver: bob.party, amount: TAP }
    const entry = encodeEntry(
      {
        genesis: await hashGenesis(genesis),
        participant: keyPair.publicKey,
        id: randomHex(systemRandom, 16),
        notAfter: clock.nowMicros() + 60_000_000,
        userId: 'bob',
        actAs: [bob.party],
        readAs: [],
        commandId: randomHex(systemRandom, 16),
        submissionId: '',
        workflowId: '',
        deduplication: { kind: 'duration', micros: 0 },
        commands: [tapCommand(argument)],
        disclosed: [{ contractId: contract.contract_id, blob: contract.created_event_blob }],
      },
      keyPair,
    )
    const token = await readFile(join(validator.directory, 'token'), 'utf8')
    await using log = createLogClient({ url: synchronizer.url, token })
    await log.submit(entry, AbortSignal.timeout(60_000))
  }
  const coinOfBob = async () => (await bob.balance()).effective_unlocked_qty

  await using scan = createScan({ seeds: svs.map(({ url }) => url), genesis })
  const bySdk = readSteadily('the SDK', async () => {
    const { kind } = await scan.names.lookup(ALICE)
    return kind === 'proven' ? 'verified' : kind
  })
  const throughProxy = () => readSteadily('the proxy', () => lookUpByVotes(client))
  let byVotes = throughProxy()
  const registrations = registerSteadily(client, alice)

  // One after the other, the synchronizer first. Newer software applies the old rules.
  await upgrade(newerBin, synchronizer)
  await tapForBob()
  await until('the coin', async () =>
    (await coinOfBob()) === '2000000.0000000000' ? true : undefined,
  )
  for (const sv of [sv1, sv2]) await upgrade(newerBin, sv)
  // Two nodes that find another layout at the same time rebuild their replicas one after the other.
  const seen = await upgradeBoth(otherLayoutBin, [sv1, sv2])
  expect(seen.filter(({ later }) => /^(?:starting|catching-up|ready)$/.test(later))).toEqual([])
  for (const sv of [sv1, sv2])
    expect(sv.running?.output).toContain('deleting the replica, to rebuild it')
  await upgrade(newerBin, sv3)
  await expectSameHistory(svs)

  // Each operator votes at its own node, which must know the version.
  const protocol = async (sv: Operator) =>
    JSON.parse(await cli(BIN, 'protocol', 'get', '--json', '--scan', sv.url))
  expect(await protocol(sv1)).toMatchObject({ version, newestKnown: version + 1 })
  const vote = (sv: Operator) =>
    cli(
      BIN,
      'protocol',
      'vote',
      String(version + 1),
      '--key',
      join(sv.directory, 'keys', `${sv.name}.operator`),
      '--genesis',
      network.genesisFile,
      '--scan',
      sv.url,
      '--synchronizer',
      synchronizer.url,
      '--token-file',
      join(sv.directory, 'token'),
    )
  await expect(vote(sv4)).rejects.toThrow(`install one that knows ${version + 1}`)
  const acknowledged = registrations.count()
  expect(acknowledged).toBeGreaterThan(0)
  for (const sv of [sv1, sv2, sv3]) await vote(sv)
  await untilReadiness(sv4, 'SOFTWARE_OUTDATED')
  await untilReadiness(validator, 'SOFTWARE_OUTDATED')
  for (const sv of [sv1, sv2, sv3])
    expect(await protocol(sv)).toMatchObject({ version: version + 1, next: null })
  // The validator refuses requests of users, but the log accepts an entry that was prepared before.
  await expect(bob.pay('bob.unverified.ns')).rejects.toThrow('SOFTWARE_OUTDATED')
  await tapForBob()
  await byVotes.end()

  // A node that is upgraded later continues where it stopped, with the same rules from the same offset on.
  await upgrade(newerBin, validator, sv4)
  byVotes = throughProxy()
  await expectSameHistory(svs)
  expect(await coinOfBob()).toBe('2000000.0000000000')
  await until('a registration by the newer rules', () =>
    registrations.count() > acknowledged ? true : undefined,
  )

  await registrations.end()
  await bySdk.end()
  await byVotes.end()
  expect(await lookup(client, ALICE, { 'x-quorum': 'all' })).toAnswer(200)
})

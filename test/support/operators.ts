/**
 * Networks of operators who share no machine and no key, made as `docs/operations.md` says: each makes its keys where they
 * stay and shows a member file, all make the same genesis, and each runs its own part by `run`. All speak TLS.
 */
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { createAuthority, required, type TestAuthority, until } from '@quorumscan/testkit'
import { enginePath } from 'quorumscan/testing/engine'
import { type Issuer, startIssuer } from './issuer.ts'
import { type Between, createMachines, type Machine, type Machines } from './machines.ts'
import { createTrustingFetch } from './trusting-fetch.ts'

export type Ordering = 'redis' | 'cometbft'

/** What was compiled is a directory deeper. */
const ROOT = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../..' : '../../..')
const BIN = join(ROOT, 'apps/cli/bin/quorumscan.mjs')
const PORT = 4611
const ENGINE_PORT = 26_656
const METRICS_PORT = 9464
/** At 127.0.0.1, which machines share where they are no more than addresses of it: each has its own. */
const SYNCHRONIZER_PORT_FIRST = 4624
/** What `keys new` calls those that `run` runs. */
const ROLES = { sv: 'super-validator', synchronizer: 'synchronizer', validator: 'validator' }
const TLS_REQUEST =
  'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=quorumscan -keyout etc/tls/key.pem'

export type Operator = {
  readonly role: keyof typeof ROLES
  readonly name: string
  /** Another one when it was restored there. */
  machine: Machine
  /** For `run`. */
  configFile: string
  readonly synchronizerPort: number
  /** Of the release that it has installed: the `quorumscan` command. */
  bin: string
  /** Outside its machine; what it said before it was started last ends at `saidBefore`. */
  readonly logFile: string
  saidBefore: number
  running: ChildProcess | null
}

export type NetworkOptions = {
  readonly ordering: Ordering
  readonly svCount: number
  /** Of the genesis. Default: rounds of a second. */
  readonly rules?: readonly string[]
  /** Of all operators, in addition to the variables that they need. */
  readonly variables?: Readonly<Record<string, string>>
  /** What stands between machines. Default: nothing. */
  readonly between?: Between
}

export type Network = Awaited<ReturnType<typeof createNetwork>>

/** Makes a network of which nothing runs yet. */
export async function createNetwork(options: NetworkOptions) {
  required('redis')
  const [machines, authority] = await Promise.all([
    createMachines(options.between),
    createAuthority(),
  ])
  const { certFile, keyFile } = await authority.issue('issuer', 'issuer', machines.hostAddress)
  const tls = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  const issuer = await startIssuer(machines.hostAddress, tls)
  const operators: Operator[] = []
  const remove = async () => {
    await Promise.all(operators.map(stop))
    await machines[Symbol.asyncDispose]()
    await issuer[Symbol.asyncDispose]()
    await authority[Symbol.asyncDispose]()
  }
  try {
    const network = await makeNetwork({ ...options, machines, authority, issuer, operators })
    return { ...network, machines, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function makeNetwork(
  options: NetworkOptions & {
    readonly machines: Machines
    readonly authority: TestAuthority
    readonly issuer: Issuer
    /** Filled with all of them. */
    readonly operators: Operator[]
  },
) {
  const { ordering, svCount, machines, authority, issuer, operators } = options
  const isTogether = ordering === 'cometbft'
  const logs = join(machines.directory, 'logs')
  mkdirSync(logs)
  const enroll = async (role: Operator['role'], name: string): Promise<Operator> => {
    const operator: Operator = {
      ...{ role, name, machine: await machines.add(name), configFile: '' },
      synchronizerPort: SYNCHRONIZER_PORT_FIRST + operators.length,
      ...{ bin: BIN, logFile: join(logs, `${name}.log`), saidBefore: 0, running: null },
    }
    operators.push(operator)
    return operator
  }
  const svs: Operator[] = []
  for (let number = 1; number <= svCount; number++) svs.push(await enroll('sv', `sv-${number}`))
  const synchronizer = isTogether ? null : await enroll('synchronizer', 'orderer')
  const validator = await enroll('validator', 'v')
  await makeGenesis(operators, options)

  // The cache in which the engine is is its owner's alone.
  const engine = join(machines.directory, 'cometbft')
  if (isTogether) copyFileSync(enginePath ?? '', engine)
  if (isTogether) chmodSync(engine, 0o755)
  const tokens: string[] = []
  for (const { name, role, machine, synchronizerPort } of operators) {
    await certify(machine, authority)
    const token = randomBytes(16).toString('hex')
    const variables: Record<string, string | number> = {
      QS_NAME: name,
      QS_DATA_DIR: join(machine.directory, 'var'),
      QS_GENESIS: join(machine.directory, 'etc/genesis.json'),
      QS_MEMBERS: join(machine.directory, 'etc/members'),
      QS_HOST: machine.anyAddress,
      QS_PORT: PORT,
      QS_TLS_CERT: join(machine.directory, 'etc/tls/cert.pem'),
      QS_TLS_KEY: join(machine.directory, 'etc/tls/key.pem'),
      QS_PEER_CA: join(machine.directory, 'etc/tls/ca.pem'),
      QS_OPERATOR_ADDRESS: `${machine.ownAddress}:${METRICS_PORT}`,
      QS_LOG_LEVEL: 'warn',
      ...options.variables,
    }
    if (isTogether) {
      variables['QS_SYNCHRONIZER_PORT'] = synchronizerPort
      variables['QS_ENGINE_ADDRESS'] = `${machine.anyAddress}:${ENGINE_PORT}`
      variables['QS_COMETBFT'] = engine
    } else if (role === 'synchronizer') {
      variables['QS_PEER_TOKENS_FILE'] = join(machine.directory, 'etc/tokens')
    } else if (synchronizer !== null) {
      variables['QS_LOG'] = urlOf(synchronizer)
      variables['QS_LOG_TOKEN_FILE'] = machine.write('etc/token', token)
      tokens.push(token)
    }
    if (role === 'validator') {
      variables['QS_JWKS_URL'] = issuer.url
      variables['QS_JWKS_ALGORITHM'] = 'EdDSA'
      variables['QS_ALLOW_PRIVATE_ADDRESSES'] = 1
    }
    const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}\n`)
    machine.write('etc/run.env', lines.join(''))
  }
  synchronizer?.machine.write('etc/tokens', `${tokens.join('\n')}\n`)
  for (const operator of operators)
    operator.configFile = join(operator.machine.directory, 'etc/run.env')

  return {
    ...{ svs, synchronizer, validator, all: operators as readonly Operator[] },
    /** As `createUser` and `lookup` take it. */
    client: {
      urls: { validator: urlOf(validator) },
      fetch: createTrustingFetch(readFileSync(authority.caFile, 'utf8')),
      token: async (user: string) => issuer.token(user),
    },
    /** Gives a machine a key for TLS, which is made there, with its certificate. */
    certify: (machine: Machine) => certify(machine, authority),
  }
}

/** Each makes its keys, all show their files, each makes the genesis of them, and they compare its hash. */
async function makeGenesis(
  operators: readonly Operator[],
  { ordering, rules = ['coin.tickMicros=1s'] }: NetworkOptions,
): Promise<void> {
  const shown: { readonly file: string; readonly text: string }[] = []
  for (const operator of operators) {
    const { role, name, machine } = operator
    const reached = [
      ...['--url', urlOf(operator)],
      ...['--engine-address', `${machine.address}:${ENGINE_PORT}`],
    ]
    const flags = ['--name', name, '--role', ROLES[role], ...(role === 'sv' ? reached : [])]
    const made = await type(operator, 'keys', 'new', ...flags, '--out', 'var', '--json')
    const text = readFileSync(JSON.parse(made).memberFile, 'utf8')
    shown.push({ file: `etc/members/${name}.member.json`, text })
  }
  const files = shown.map(({ file }) => file)
  const set = ['devnet=true', ...rules].flatMap((rule) => ['--set', rule])
  const settings = ['--ordering', ordering, ...set, '--json']
  const hashes = new Set<string>()
  for (const operator of operators) {
    for (const { file, text } of shown) operator.machine.write(file, text)
    const out = ['--out', 'etc/genesis.json']
    hashes.add(await type(operator, 'genesis', 'create', ...files, ...settings, ...out))
    await type(operator, 'genesis', 'verify', 'etc/genesis.json', ...files)
  }
  if (hashes.size !== 1) throw new Error(`not all have the same genesis: ${[...hashes].join(' ')}`)
}

async function certify(machine: Machine, authority: TestAuthority): Promise<void> {
  machine.write('etc/tls/ca.pem', readFileSync(authority.caFile))
  const request = await machine.run('openssl', ...TLS_REQUEST.split(' '))
  machine.write('etc/tls/cert.pem', await authority.sign(request, machine.address))
}

function urlOf({ machine }: Pick<Operator, 'machine'>): string {
  return `https://${machine.address}:${PORT}`
}

/** The `quorumscan` command, typed on the operator's machine; what it printed. */
export function type({ machine, bin }: Operator, ...args: readonly string[]): Promise<string> {
  const trust = 'NODE_EXTRA_CA_CERTS=etc/tls/ca.pem'
  return machine.run('env', trust, process.execPath, bin, ...args)
}

/** Starts what the operator runs. */
export function run(operator: Operator): ChildProcess {
  const { machine, role, bin, configFile, logFile } = operator
  operator.saidBefore = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const args = ['run', role, '--config', configFile]
  const log = openSync(logFile, 'a')
  const stdio: StdioOptions = ['ignore', log, log]
  operator.running = machine.start({ stdio }, process.execPath, bin, ...args)
  closeSync(log)
  return operator.running
}

/** What it said since it was started last. */
export function saidBy({ logFile, saidBefore }: Operator): string {
  return readFileSync(logFile).subarray(saidBefore).toString()
}

/** All that the operator runs is ready. */
export async function untilReady(operator: Operator): Promise<void> {
  const { name } = operator
  await until(`${name} to be ready`, () => {
    const said = saidBy(operator)
    if (operator.running?.exitCode !== null) throw new Error(`${name} ended: ${said}`)
    return said.includes(`${name} is ready`) ? true : undefined
  })
}

/** Ends in order what the operator runs; the exit status. */
export async function stop(operator: Operator): Promise<number | null> {
  const { running } = operator
  if (running === null) return null
  operator.running = null
  if (running.exitCode === null && running.signalCode === null) {
    const ended = once(running, 'exit')
    running.kill('SIGTERM')
    await ended
  }
  return running.exitCode
}

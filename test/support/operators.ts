/**
 * Networks of operators that share no machine and no key, made as in `docs/operations.md`. Each operator makes its keys
 * on its own machine and publishes a member file. All make the same genesis, and each runs its own part with `run`. All
 * connections use TLS.
 */
import { type ChildProcess, execFileSync, type StdioOptions } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { createAuthority, required, type TestAuthority, until } from '@quorumscan/testkit'
import { clearDisk, fillDisk } from 'quorumscan/testing/disk'
import { enginePath } from 'quorumscan/testing/engine'
import { type createUser, unwrap } from './client.ts'
import { type Issuer, startIssuer } from './issuer.ts'
import { createMachines, type Machine, type Machines, type StartRelay } from './machines.ts'
import { ROOT } from './root.ts'
import { printLogs } from './test-logs.ts'
import { createTrustingFetch } from './trusting-fetch.ts'

export type Ordering = 'redis' | 'cometbft'

const BIN = join(ROOT, 'apps/cli/bin/quorumscan.mjs')
const PORT = 4611
const ENGINE_PORT = 26_656
const METRICS_PORT = 9464
/** A port on 127.0.0.1. Each machine has its own, because machines that are loopback addresses share 127.0.0.1. */
const SYNCHRONIZER_PORT_FIRST = 4624
/** Roles of `run`, and their names in `keys new`. */
const ROLES = { sv: 'super-validator', synchronizer: 'synchronizer', validator: 'validator' }
const TLS_REQUEST =
  'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=quorumscan -keyout etc/tls/key.pem'

export type Operator = {
  readonly role: keyof typeof ROLES
  readonly name: string
  /** Changes when the operator is restored on another machine. */
  machine: Machine
  /** Configuration file of `run`. */
  configFile: string
  readonly synchronizerPort: number
  /** The `quorumscan` command of the release that it has installed. */
  bin: string
  /** Its output, in a file outside of its machine. The output since its last start begins at `outputStart`. */
  readonly logFile: string
  outputStart: number
  running: ChildProcess | null
  /** Variables of `run` and other commands, in addition to those of its machine. */
  env: Readonly<Record<string, string>>
}

export type NetworkOptions = {
  readonly ordering: Ordering
  readonly svCount: number
  /** Whether users may create coin. Default: true. */
  readonly devnet?: boolean
  /** Settings of the genesis. Default: rounds of a second. */
  readonly rules?: readonly string[]
  /** Variables of all operators, in addition to the required ones. */
  readonly variables?: Readonly<Record<string, string>>
  /** Starts a relay in front of each machine. Default: no relays. */
  readonly startRelay?: StartRelay
}

export type Network = Awaited<ReturnType<typeof createNetwork>>

/** Makes a network. No process runs yet. */
export async function createNetwork(options: NetworkOptions) {
  required('redis')
  const [machines, authority] = await Promise.all([
    createMachines(options.startRelay),
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
    /** `makeNetwork` adds every operator, so that the caller can stop them after a failure. */
    readonly operators: Operator[]
  },
) {
  const { ordering, svCount, machines, authority, issuer, operators } = options
  const isCometBft = ordering === 'cometbft'
  const logs = join(machines.directory, 'logs')
  mkdirSync(logs)
  const add = async (role: Operator['role'], name: string): Promise<Operator> => {
    const operator: Operator = {
      role,
      name,
      machine: await machines.add(name),
      configFile: '',
      synchronizerPort: SYNCHRONIZER_PORT_FIRST + operators.length,
      bin: BIN,
      logFile: join(logs, `${name}.log`),
      outputStart: 0,
      running: null,
      env: {},
    }
    operators.push(operator)
    return operator
  }
  const svs: Operator[] = []
  for (let number = 1; number <= svCount; number++) svs.push(await add('sv', `sv-${number}`))
  const synchronizer = isCometBft ? null : await add('synchronizer', 'orderer')
  const validator = await add('validator', 'v')
  await makeGenesis(operators, options)

  // The other users cannot read the cache that holds the engine.
  const engine = join(machines.directory, 'cometbft')
  if (isCometBft) copyFileSync(enginePath ?? '', engine)
  if (isCometBft) chmodSync(engine, 0o755)
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
    if (isCometBft) {
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
    svs,
    synchronizer,
    validator,
    all: operators as readonly Operator[],
    /** The argument of `createUser` and `lookup`. */
    client: {
      urls: { validator: urlOf(validator) },
      fetch: createTrustingFetch(readFileSync(authority.caFile, 'utf8')),
      token: async (user: string) => issuer.token(user),
    },
    /** Makes a TLS key on the machine, and gives the machine its certificate, which is valid for these days. */
    certify: (machine: Machine, days?: number) => certify(machine, authority, days),
  }
}

/** Each operator makes its keys, and a genesis from the member files of all. All must get the same hash. */
async function makeGenesis(
  operators: readonly Operator[],
  { ordering, devnet = true, rules = ['coin.tickMicros=1s'] }: NetworkOptions,
): Promise<void> {
  const newKeys = async (operator: Operator) => {
    const { role, name, machine } = operator
    const addressFlags = [
      '--url',
      urlOf(operator),
      '--engine-address',
      `${machine.address}:${ENGINE_PORT}`,
    ]
    const flags = ['--name', name, '--role', ROLES[role], ...(role === 'sv' ? addressFlags : [])]
    const made = await runCli(operator, 'keys', 'new', ...flags, '--out', 'var', '--json')
    const text = readFileSync(JSON.parse(made).memberFile, 'utf8')
    return { file: `etc/members/${name}.member.json`, text }
  }
  const memberFiles = await Promise.all(operators.map(newKeys))
  const files = memberFiles.map(({ file }) => file)
  const set = [`devnet=${devnet}`, ...rules].flatMap((rule) => ['--set', rule])
  const settings = ['--ordering', ordering, ...set, '--json']
  const makeOne = async (operator: Operator) => {
    for (const { file, text } of memberFiles) operator.machine.write(file, text)
    const out = ['--out', 'etc/genesis.json']
    const hash = await runCli(operator, 'genesis', 'create', ...files, ...settings, ...out)
    await runCli(operator, 'genesis', 'verify', 'etc/genesis.json', ...files)
    return hash
  }
  const hashes = new Set(await Promise.all(operators.map(makeOne)))
  if (hashes.size !== 1) throw new Error(`operators have several geneses: ${[...hashes].join(' ')}`)
}

async function certify(machine: Machine, authority: TestAuthority, days?: number): Promise<void> {
  machine.write('etc/tls/ca.pem', readFileSync(authority.caFile))
  const request = await machine.run('openssl', ...TLS_REQUEST.split(' '))
  machine.write('etc/tls/cert.pem', await authority.sign(request, machine.address, days))
}

function urlOf({ machine }: Pick<Operator, 'machine'>): string {
  return `https://${machine.address}:${PORT}`
}

/** Runs the `quorumscan` command on the operator's machine, with the variables of its `run`. Returns the output. */
export function runCli(
  { machine, bin, env }: Operator,
  ...args: readonly string[]
): Promise<string> {
  const variables = Object.entries({ QS_PEER_CA: 'etc/tls/ca.pem', ...env })
  const assignments = variables.map(([name, value]) => `${name}=${value}`)
  return machine.run('env', ...assignments, process.execPath, bin, ...args)
}

/** Runs a command of one operator with its own key, node and synchronizer. */
export function decide(
  { synchronizer }: Pick<Network, 'synchronizer'>,
  operator: Operator,
  ...command: readonly string[]
): Promise<string> {
  const { machine, name, synchronizerPort } = operator
  const isAlone = synchronizer !== null
  return runCli(
    operator,
    ...command,
    '--key',
    `var/keys/${name}.operator`,
    '--genesis',
    'etc/genesis.json',
    '--scan',
    `https://${machine.address}:4611`,
    ...(isAlone
      ? ['--synchronizer', urlOf(synchronizer), '--token-file', 'etc/token']
      : ['--synchronizer', `http://127.0.0.1:${synchronizerPort}`]),
    ...(isAlone ? [] : ['--token-file', `var/secrets/log-token-${name}`]),
  )
}

/** What `rewards`, or a command below it, prints for a super-validator. */
export async function rewardsOf(sv: Operator, ...args: readonly string[]) {
  return JSON.parse(await runCli(sv, 'rewards', ...args, '--config', sv.configFile, '--json'))
}

/** Waits until coin is offered to a user, who accepts it. */
export async function acceptOffer({ client }: Awaited<ReturnType<typeof createUser>>) {
  const path = '/v0/wallet/token-standard/transfers'
  const { contract_id } = await until('an offer', async () => {
    return unwrap(await client.GET(path)).transfers[0]
  })
  unwrap(await client.POST(`${path}/{contract_id}/accept`, { params: { path: { contract_id } } }))
}

/** Starts the operator's processes. */
export function run(operator: Operator): ChildProcess {
  const { machine, role, bin, configFile, logFile, env } = operator
  operator.outputStart = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const args = ['run', role, '--config', configFile]
  const log = openSync(logFile, 'a')
  const stdio: StdioOptions = ['ignore', log, log]
  operator.running = machine.start({ stdio, env }, process.execPath, bin, ...args)
  closeSync(log)
  return operator.running
}

/** The output of the operator's processes since the last start. */
export function outputOf({
  logFile,
  outputStart,
}: Pick<Operator, 'logFile' | 'outputStart'>): string {
  return readFileSync(logFile).subarray(outputStart).toString()
}

/** Waits until all processes of the operator are ready. If they are not, also in a hook, the logs of all are printed. */
export async function untilReady(
  operator: Pick<Operator, 'name' | 'running' | 'logFile' | 'outputStart'>,
): Promise<void> {
  const { name } = operator
  try {
    await until(`${name} to be ready`, () => {
      const output = outputOf(operator)
      const { exitCode, signalCode } = operator.running ?? { exitCode: null, signalCode: 'none' }
      if (exitCode !== null || signalCode !== null) throw new Error(`${name} ended: ${output}`)
      return output.includes(`${name} is ready`) ? true : undefined
    })
  } catch (error) {
    printLogs()
    throw error
  }
}

/** Puts the data directory of the operator on a disk of its own, before it runs. @param size - Such as `3g`. */
export function mountDisk(operator: Operator, size: string) {
  required('mount')
  const { directory } = operator.machine
  const path = join(directory, 'var')
  const { uid } = statSync(directory)
  const before = `${path}.before`
  renameSync(path, before)
  mkdirSync(path)
  const options = `size=${size},uid=${uid},gid=${uid},mode=0700`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  execFileSync('cp', ['-a', `${before}/.`, path])
  const resize = (to: string) => void execFileSync('mount', ['-o', `remount,size=${to}`, path])
  return {
    resize,
    /** Shrinks it, and fills what is left. */
    async fill(to: string) {
      resize(to)
      await fillDisk(path, 0)
    },
    /** Ends `fill`. */
    clear(to: string) {
      clearDisk(path)
      resize(to)
    },
    async [Symbol.asyncDispose]() {
      await stop(operator)
      execFileSync('umount', ['--lazy', path])
    },
  }
}

/** Stops the operator's processes gracefully, and returns the exit status. */
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

/** The processes of one operator, and the variables of each: those of its file, and those that follow from it. */

import { readFileSync } from 'node:fs'
import {
  assert,
  type Clock,
  type Env,
  EnvError,
  type EnvProblem,
  type NoteVariable,
  readEnv,
  type Variable,
} from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import {
  assertRewardsLeave,
  confirmingNodesIn,
  memberOrderingIn,
  nodeIn,
  readScanConfig,
  readSynchronizerConfig,
  readValidatorConfig,
  type ScanConfig,
  trustRuleIn,
} from '@quorumscan/config'
import { svPartyOf } from '@quorumscan/ledger'
import { LOG_RULES, LOG_USER } from '@quorumscan/log'
import { isAuthenticated } from '@quorumscan/reader'
import { readRedis } from '@quorumscan/redis'
import { didYouMean, messageOfRead, problemOfCertificate } from '@quorumscan/runtime'
import { type RedisService, type Service, urlOfSocket } from '@quorumscan/supervisor'
import type { Genesis } from '@quorumscan/verifier'
import { memberSetOf } from '@quorumscan/verifier'
import type { MemberFile } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import {
  LOG_WRITER_SECRET,
  LOOPBACK,
  type Machine,
  metricsSocketOf,
  type OwnSynchronizer,
  plan,
  planRedis,
} from '../plan.ts'
import { REDIS_MEMORY_VARIABLE, redisMemoryBudget } from '../redis-memory.ts'
import { makeSecret } from '../secrets.ts'
import { isMemberOrdered, type OperatorConfig, type UncheckedConfig } from './operator-config.ts'

const CONFIG_OF = {
  scan: readScanConfig,
  synchronizer: readSynchronizerConfig,
  validator: readValidatorConfig,
}
const ANY_ADDRESS = ['0.0.0.0', '::']

/** The variables of a process that listens on the loopback interface only. */
const LOOPBACK_VARIABLES = {
  QS_HOST: LOOPBACK,
  QS_TLS_CERT: '',
  QS_TLS_KEY: '',
  QS_TLS_CLIENT_CA: '',
  QS_TRUSTED_PROXIES: '',
}

/** The processes of one operator, by its configuration. @param logWriter - The password of the log's Redis. */
export function planOperator(config: UncheckedConfig, machine: Machine, logWriter: string) {
  const { runs, name, variables, synchronizerPort } = config
  const port = Number(variables['QS_PORT'])
  const host = variables['QS_HOST'] || LOOPBACK
  const { operatorAddress } = config
  // `run` itself listens there.
  const listenerOf = (process: string) => ({
    QS_OPERATOR_ADDRESS:
      operatorAddress === null ? '' : urlOfSocket(metricsSocketOf(machine, process)),
  })
  const redis = planOperatorRedis(config, machine, logWriter)
  const { urls, peers, followers } = peersOf(config)
  const shared = {
    QS_NODES: nodesVariable(urls),
    QS_SEEDS: urls.map(({ url }) => url).join(','),
    QS_PUBLIC_URL: urls.find((sv) => sv.name === name)?.url,
    QS_PEERS_FILE: machine.directory.peersFile,
    ...variables,
  }
  const synchronizerName = `${name}.synchronizer`
  const synchronizer: OwnSynchronizer = {
    name: synchronizerName,
    owner: name,
    port: synchronizerPort,
    enginePorts: [],
    engineSockets: `${redis.redisAddress.path}.e`,
    peers,
    followers,
    variables: { ...shared, ...LOOPBACK_VARIABLES, ...listenerOf(synchronizerName) },
  }
  const at = operatorAddress ?? { host, port }
  const url = `http://${urlHost(ANY_ADDRESS.includes(at.host) ? LOOPBACK : at.host)}:${at.port}`
  const own = { runs, name, redis, port, url, variables: { ...shared, ...listenerOf(name) } }
  return plan(machine, { ...own, synchronizer: isMemberOrdered(config) ? synchronizer : null })
}

/** The services of an operator, without the programs, sockets and secrets of a start. */
export function planUnstarted(config: UncheckedConfig) {
  // A directory that is not named is a problem of the configuration; the other variables are read all the same.
  return planOperator(config, unstarted(config.directory ?? dataDirectory('/')), '')
}

/** The configuration of a process, by its variables. @throws {EnvError} With all that is missing or wrong. */
export function readServiceConfig({ kind, app }: Service, note?: NoteVariable) {
  return CONFIG_OF[kind](app.env, note)
}

/**
 * What the process reads at its start and compares with the genesis.
 *
 * @param genesis - Null: it could not be read, which is the problem.
 * @throws {EnvError} With what it would report.
 */
function assertAgreement(
  { kind, app }: Service,
  note: NoteVariable,
  genesis: Genesis | null,
): void {
  switch (kind) {
    case 'scan': {
      const config = readScanConfig(app.env, note)
      if (genesis !== null) assertRewardsLeave(config, svPartyOf(nodeIn(config, genesis).node))
      break
    }
    case 'synchronizer': {
      const config = readSynchronizerConfig(app.env, note)
      if (genesis === null) break
      confirmingNodesIn(config.nodes, genesis)
      if (config.ordering.driver === 'cometbft') memberOrderingIn(genesis)
      break
    }
    case 'validator': {
      const config = readValidatorConfig(app.env, note)
      if (genesis !== null) trustRuleIn(config, genesis)
    }
  }
}

/** What follows from the member files: addresses of nodes, and the engines with which its own connects. */
function peersOf({ name, genesis, members: known }: UncheckedConfig) {
  const members = known ?? []
  const nodes = genesis === null ? [] : memberSetOf(genesis).members
  // In the order of the genesis.
  const svs = nodes.flatMap((node) =>
    members.filter((one) => one.role === 'super-validator' && one.name === node.name),
  )
  const engineOf = ({ keys }: MemberFile) => ('engine' in keys ? nodeIdOf(keys.engine) : '')
  return {
    urls: svs.flatMap((sv) => (sv.url === null ? [] : [{ name: sv.name, url: sv.url }])),
    peers: svs
      .filter((sv) => sv.name !== name && sv.engineAddress !== null)
      .map((sv) => `${engineOf(sv)}@${sv.engineAddress}`),
    followers: members.filter(({ role }) => role === 'validator').map(engineOf),
  }
}

function nodesVariable(urls: readonly { readonly name: string; readonly url: string }[]): string {
  return urls.map((sv) => `${sv.name}=${sv.url}`).join(',')
}

/** The text of the file of `QS_PEERS_FILE`. */
export function peersFileOf(config: OperatorConfig): string {
  const { urls, peers, followers } = peersOf(config)
  return `# \`run\` writes this file from the member files.
QS_NODES=${config.variables['QS_NODES'] ?? nodesVariable(urls)}
QS_ENGINE_PEERS=${peers.join(',')}
QS_ENGINE_FOLLOWERS=${config.runs === 'sv' ? followers.join(',') : ''}
`
}

/** @param logWriter - As of `planOperator`. */
function planOperatorRedis(
  config: Pick<OperatorConfig, 'runs' | 'name' | 'variables'>,
  machine: Parameters<typeof planRedis>[0],
  logWriter: string,
): RedisService {
  const { runs, name } = config
  const login = { name: LOG_USER, rules: LOG_RULES, password: logWriter }
  const fsync = runs === 'sv' ? 'everysec' : 'always'
  const user = runs === 'synchronizer' ? login : null
  const memoryBytes = memoryOf(config.variables)
  const planned = planRedis(machine, { name, fsync, user, memoryBytes })
  return { ...planned, isExternal: Boolean(config.variables[redisVariableOf(runs)]) }
}

/** The budget of the Redis. A text that is none is a problem of the configuration, which `readOperatorConfig` reports. */
function memoryOf({ [REDIS_MEMORY_VARIABLE]: text }: Env): number {
  try {
    return redisMemoryBudget(text)
  } catch {
    return redisMemoryBudget(undefined)
  }
}

/** The Redis that an operator's file names; null: `run` starts one. @throws {EnvError} If its address is malformed. */
export function externalRedisOf({ runs, variables }: Pick<OperatorConfig, 'runs' | 'variables'>) {
  const name = redisVariableOf(runs)
  if (!variables[name]) return null
  return readEnv(variables, (reader) => readRedis(reader, name, { about: '', example: '' }))
}

/** The variable that names a Redis of the operator's own. */
export function redisVariableOf(runs: OperatorConfig['runs']): string {
  return runs === 'synchronizer' ? 'QS_LOG_REDIS' : 'QS_REDIS'
}

/** The node of an operator on this machine. */
export type OwnNode = Pick<Machine, 'redisServer' | 'env'> & {
  readonly config: Pick<OperatorConfig, 'runs' | 'name' | 'directory' | 'variables'>
  readonly clock: Clock
}

/** The Redis of an operator, as `run` starts it. */
export function planOwnRedis({ config, ...node }: OwnNode, socketDirectory: string): RedisService {
  const { directory } = config
  const machine = { ...node, directory, socketDirectory, logFileOf: directory.logFile }
  return planOperatorRedis(config, machine, makeSecret(directory, LOG_WRITER_SECRET))
}

/** A machine on which nothing is started. */
function unstarted(directory: OperatorConfig['directory']): Machine {
  const entryFiles = { scan: '', synchronizer: '', validator: '' }
  const programs = { redisServer: '', engineProgram: null, entryFiles }
  return { ...programs, directory, socketDirectory: '/', logFileOf: () => null, env: {} }
}

/** The configuration of the operator's scan node. @throws {EnvError} If a variable is missing or invalid. */
export function scanConfigOf(config: OperatorConfig): ScanConfig {
  const node = planOperator(config, unstarted(config.directory), '').find(
    ({ kind }) => kind === 'scan',
  )
  assert(node !== undefined, 'a super-validator has a scan node')
  return readScanConfig(node.app.env)
}

/**
 * All that is wrong with the variables, and with the files that they name. The processes would report it one after the
 * other, between the lines of others.
 */
export function validateProcesses(config: UncheckedConfig): readonly EnvProblem[] {
  const { variables, runs } = config
  const { specs, problems } = readVariablesOfProcesses(config)
  const known = new Set([...config.known, ...specs.keys()])
  const checkByName = new Map(
    [...specs].flatMap(([name, { file }]) => (file === undefined ? [] : [[name, file] as const])),
  )
  problems.push(...problemsOfFiles(variables, checkByName))
  if (variables['QS_TLS_CERT'] && !variables['QS_OPERATOR_ADDRESS'])
    problems.push({
      variable: 'QS_OPERATOR_ADDRESS',
      place: 'value',
      sentence:
        'QS_OPERATOR_ADDRESS is not set. With TLS, `run` checks the health of the process at this address. Set it, for example to 127.0.0.1:9464',
    })
  problems.push(...problemsOfNames(variables, { known, redis: redisVariableOf(runs) }))
  return problems
}

/** The variables that name files which the processes read, such as certificates and tokens. */
export function fileVariablesOf(config: UncheckedConfig): ReadonlySet<string> {
  const { specs } = readVariablesOfProcesses(config)
  return new Set([...specs.keys()].filter((name) => specs.get(name)?.file !== undefined))
}

/** The variables that `run` and the processes of this configuration read, also of a wrong one. */
export function variablesOf(config: UncheckedConfig): ReadonlySet<string> {
  return new Set([...config.known, ...readVariablesOfProcesses(config).specs.keys()])
}

/** The variables that the processes read, and what is missing or wrong. */
function readVariablesOfProcesses(config: UncheckedConfig) {
  const specs = new Map<string, Variable>()
  const problems = planUnstarted(config).flatMap((service): readonly EnvProblem[] => {
    try {
      assertAgreement(service, (variable) => specs.set(variable.name, variable), config.genesis)
      return []
    } catch (error) {
      if (!(error instanceof EnvError) || error.problems.length === 0) throw error
      return error.problems
    }
  })
  return { specs, problems }
}

/** Problems of the files that the operator named. `run` itself makes those of the data directory. */
function problemsOfFiles(
  variables: Env,
  checkByName: ReadonlyMap<string, NonNullable<Variable['file']>>,
): readonly EnvProblem[] {
  const problems: EnvProblem[] = []
  const textByName = new Map<string, string>()
  for (const [name, check] of checkByName) {
    const file = variables[name]
    if (!file) continue
    try {
      const text = readFileSync(file, 'utf8')
      check(text)
      textByName.set(name, text)
    } catch (error) {
      problems.push({ variable: name, place: 'file', why: messageOfRead(error, file) })
    }
  }
  const [cert, key] = [textByName.get('QS_TLS_CERT'), textByName.get('QS_TLS_KEY')]
  const pair = cert === undefined || key === undefined ? null : problemOfCertificate({ cert, key })
  if (pair !== null) problems.push({ variable: 'QS_TLS_CERT', place: 'file', sentence: pair })
  return problems
}

/** Problems of variables that nothing reads: most are misspelt. */
function problemsOfNames(
  variables: Env,
  { known, redis }: { readonly known: ReadonlySet<string>; readonly redis: string },
): readonly EnvProblem[] {
  const unread = (variable: string, sentence: string): EnvProblem => ({
    variable,
    place: 'name',
    sentence,
  })
  return Object.entries(variables).flatMap(([name, value]) => {
    if (known.has(name))
      return name.startsWith(`${redis}_`) &&
        name !== REDIS_MEMORY_VARIABLE &&
        value &&
        !variables[redis]
        ? [
            unread(
              name,
              `${name} belongs to ${redis}, which is not set: the Redis that \`run\` starts needs no such file. Leave it out, or set ${redis}`,
            ),
          ]
        : []
    const hint = didYouMean(name, [...known])
    // The file may hold variables of other programs, such as NODE_OPTIONS.
    if (!name.startsWith('QS_') && hint === '') return []
    return [unread(name, `${name} is not a variable that these processes read${hint}`)]
  })
}

/** Settings that may be intended, and are more often a mistake. */
export function warningsOf({ variables }: Pick<OperatorConfig, 'variables'>): readonly string[] {
  const host = variables['QS_HOST'] || LOOPBACK
  const isReachedByHttps = variables['QS_TLS_CERT'] || variables['QS_TRUSTED_PROXIES']
  if (isReachedByHttps || isAuthenticated(`http://${urlHost(host)}`)) return []
  return [
    `QS_HOST=${host} serves plain HTTP, but other machines connect only by https. ` +
      'Set QS_TLS_CERT and QS_TLS_KEY, or name a reverse proxy in QS_TRUSTED_PROXIES',
  ]
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

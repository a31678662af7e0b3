/** What one operator is told by a file: what `run` reads itself, and what the processes that it starts read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import {
  describeFileError,
  type Env,
  EnvError,
  type EnvReader,
  type Meaning,
  parseKeyFile,
  readEnv,
} from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import { GENESIS_VARIABLE } from '@quorumscan/config'
import { messageOf, UsageError } from '@quorumscan/runtime'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import {
  KEYS_OF,
  type Member,
  memberKeyFile,
  ROLE_OF,
  type Runnable,
  readMember,
} from '../ceremony/member.ts'
import { type DataDirectory, dataDirectory } from '../data-directory.ts'

const PORT_MAX = 65_535
const MEMBER_FILE = /\.member\.json$/

/** What `run` reads itself. */
export const OWN_VARIABLES = {
  QS_NAME: { about: 'the name of the member, as `keys new` was told', example: 'sv-1' },
  QS_DATA_DIR: {
    about: 'where `keys new` put its keys; Redis and the engine keep their files there, too',
    example: '/var/lib/quorumscan',
  },
  QS_MEMBERS: {
    about: 'a directory with the member files of all (`*.member.json`): names, addresses, keys',
    example: '/etc/quorumscan/members',
  },
  QS_SYNCHRONIZER_PORT: {
    about:
      'where all order together: the loopback port of its own synchronizer, with its /metrics and health',
    example: '4624',
  },
} as const satisfies Readonly<Record<string, Meaning>>

export type OperatorConfig = {
  readonly runs: Runnable
  readonly name: string
  readonly directory: DataDirectory
  readonly genesis: Genesis
  readonly genesisFile: string
  /** Of the member files of all. */
  readonly memberDirectory: string
  /** Those of the network whose files it has, itself included. */
  readonly members: readonly Member[]
  /** The file's variables, as every process is told them. */
  readonly variables: Env
  /** Where members order together: its synchronizer listens there for what follows it. */
  readonly synchronizerPort: number
  /** The variables that it read itself. */
  readonly known: ReadonlySet<string>
}

/**
 * Reads a file of `NAME=value` lines.
 *
 * @param judge - What is wrong with it for the processes.
 * @throws {UsageError} That names all that is missing or wrong.
 */
export function readOperatorConfig(
  runs: Runnable,
  file: string,
  judge: (config: OperatorConfig) => readonly string[],
): OperatorConfig {
  const variables = parseEnv(readText(file))
  const known = new Set<string>()
  try {
    return readEnv(
      variables,
      (reader) => {
        const config = readOperator(reader, { runs, variables, known })
        for (const problem of judge(judged(config)))
          if (config.genesis !== null || !FOLLOWS_FROM_GENESIS.test(problem))
            reader.problem(problem)
        return config as OperatorConfig // What is missing is a problem: then nothing is returned.
      },
      ({ name }) => known.add(name),
    )
  } catch (error) {
    if (error instanceof EnvError)
      throw new UsageError(
        `the configuration in ${file} is wrong:\n${error.message}\nNothing was done. Correct it, and try again; docs/configuration.md describes every variable`,
      )
    throw error
  }
}

function readOperator(
  reader: EnvReader,
  given: Pick<OperatorConfig, 'runs' | 'variables' | 'known'>,
) {
  const { runs } = given
  const name = reader.text('QS_NAME', OWN_VARIABLES.QS_NAME)
  const path = reader.text('QS_DATA_DIR', OWN_VARIABLES.QS_DATA_DIR)
  const directory = path === '' ? null : dataDirectory(path)
  const genesisFile = reader.text('QS_GENESIS', GENESIS_VARIABLE)
  const genesis =
    genesisFile === '' ? null : attempt(reader, 'QS_GENESIS', () => readGenesisFile(genesisFile))
  const memberDirectory = reader.text('QS_MEMBERS', OWN_VARIABLES.QS_MEMBERS)
  const members = memberDirectory === '' ? null : readAllMembers(reader, memberDirectory)
  const own = { runs, name, directory, members: members ?? [] }
  if (name !== '' && directory !== null)
    for (const problem of problemsOfKeys(genesis, { ...own, directory })) reader.problem(problem)
  if (genesis !== null && members !== null)
    for (const problem of problemsOf(genesis, own)) reader.problem(problem)
  const port = { ...OWN_VARIABLES.QS_SYNCHRONIZER_PORT, min: 1, max: PORT_MAX }
  return {
    ...given,
    ...{ name, directory, genesisFile, memberDirectory, members: members ?? [] },
    genesis,
    synchronizerPort:
      genesis?.ordering.driver === 'cometbft' ||
      (genesis === null && given.variables['QS_SYNCHRONIZER_PORT'])
        ? reader.integer('QS_SYNCHRONIZER_PORT', port)
        : 0,
  }
}

/** Of nodes, which are not known without a genesis. */
const FOLLOWS_FROM_GENESIS = /^QS_(?:NODES|SEEDS|PUBLIC_URL|ENGINE_PEERS)\b/

/** As much as can be judged: without a genesis the variables tell how the network orders. */
function judged(config: ReturnType<typeof readOperator>): OperatorConfig {
  const { genesis, directory, variables } = config
  const isTogether = Boolean(variables['QS_SYNCHRONIZER_PORT'] || variables['QS_ENGINE_ADDRESS'])
  const unknown = { nodes: [], ordering: { driver: isTogether ? 'cometbft' : 'redis' } }
  return {
    ...config,
    directory: directory ?? dataDirectory('/'),
    genesis: genesis ?? (unknown as unknown as Genesis),
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const why = describeFileError(error, file) ?? messageOf(error)
    throw new UsageError(`the configuration cannot be read: ${why}`, { cause: error })
  }
}

function readGenesisFile(file: string): Genesis {
  try {
    return parseGenesis(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const why = describeFileError(error, file) ?? `${file} holds no genesis: ${messageOf(error)}`
    throw new UsageError(why, { cause: error })
  }
}

function attempt<T>(reader: EnvReader, name: string, read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    reader.problem(`${name}: ${messageOf(error)}`)
    return null
  }
}

/** Null if one cannot be read: then that is the problem, and not what is missing without it. */
function readAllMembers(reader: EnvReader, directory: string): readonly Member[] | null {
  const files = attempt(reader, 'QS_MEMBERS', () => memberFilesOf(directory))
  const members = files?.map((file) => attempt(reader, 'QS_MEMBERS', () => readMember(file)))
  return members?.every((member) => member !== null) ? members : null
}

/** @throws {Error} If it cannot be read, or holds a file that its keys did not sign. */
export function readMembers(directory: string): readonly Member[] {
  return memberFilesOf(directory).map(readMember)
}

export function memberFilesOf(directory: string): readonly string[] {
  const files = readdirSync(directory).filter((file) => MEMBER_FILE.test(file))
  return files.sort().map((file) => join(directory, file))
}

/** Where a key is missing, or is not the one that the others know. */
function problemsOfKeys(
  genesis: Genesis | null,
  own: Pick<OperatorConfig, 'runs' | 'name' | 'directory' | 'members'>,
): readonly string[] {
  const { runs, name, directory } = own
  const known = genesis === null ? {} : publicKeysOf(genesis, own)
  return KEYS_OF[ROLE_OF[runs]].flatMap((kind) => {
    const file = memberKeyFile(directory, name, kind)
    if (!existsSync(file))
      return [
        `QS_DATA_DIR, QS_NAME: ${file} does not exist; \`quorumscan keys new --role ${ROLE_OF[runs]}\` makes it, unless ` +
          'this is the configuration of another role',
      ]
    try {
      const { publicKey } = parseKeyFile(readFileSync(file, 'utf8'))
      const wanted = known[kind]
      if (wanted === undefined || [publicKey, nodeIdOf(publicKey)].includes(wanted.key)) return []
      return [
        `QS_DATA_DIR, QS_NAME: ${file} is not the ${kind} key that ${wanted.of} names for ${name}: put back the key ` +
          'that was made for this network, or name its genesis and member files',
      ]
    } catch (error) {
      return [`QS_DATA_DIR, QS_NAME: ${file}: ${messageOf(error)}`]
    }
  })
}

type PublicKeys = Readonly<Record<string, { readonly key: string; readonly of: string }>>

/** What others know a member by: the key, or the id that follows from it. */
function publicKeysOf(
  { nodes, ordering }: Genesis,
  { runs, name, members }: Pick<OperatorConfig, 'runs' | 'name' | 'members'>,
): PublicKeys {
  const keys = new Map<string, string | undefined>()
  if (runs === 'sv') {
    const node = nodes.find((one) => one.name === name)
    keys.set('scan', node?.scanKey).set('operator', node?.operatorKey)
    if (ordering.driver === 'cometbft') {
      const validator = ordering.validators.find((one) => one.name === name)
      keys.set('voting', validator?.key).set('engine', validator?.nodeId)
    }
  }
  if (runs === 'synchronizer' && ordering.driver === 'redis') keys.set('synchronizer', ordering.key)
  const own = members.find((one) => one.name === name && one.role === ROLE_OF[runs])
  return Object.fromEntries([
    ...Object.entries(own?.keys ?? {}).map(([kind, key]) => [kind, { key, of: 'its member file' }]),
    ...[...keys].flatMap(([kind, key]) =>
      key === undefined ? [] : [[kind, { key, of: 'the genesis' }]],
    ),
  ])
}

/** Where the files say something else than the genesis, or too little. */
function problemsOf(
  { nodes, ordering }: Genesis,
  { runs, name, members }: Pick<OperatorConfig, 'runs' | 'name' | 'members'>,
): readonly string[] {
  const problems: string[] = []
  for (const node of nodes) {
    const member = members.find((one) => one.name === node.name && one.role === 'super-validator')
    if (member?.role !== 'super-validator') problems.push(`QS_MEMBERS: no file of ${node.name}`)
    else if (member.keys.scan !== node.scanKey || member.keys.operator !== node.operatorKey)
      problems.push(`QS_MEMBERS: the genesis has other keys of ${node.name} than its file`)
    else if (member.url === null) problems.push(`QS_MEMBERS: the file of ${node.name} has no url`)
    else if (ordering.driver === 'cometbft' && member.engineAddress === null)
      problems.push(`QS_MEMBERS: the file of ${node.name} has no address of its engine`)
  }
  if (runs === 'sv' && !nodes.some((node) => node.name === name))
    problems.push(`QS_NAME: the genesis names no super-validator ${name}`)
  if (runs === 'synchronizer' && ordering.driver !== 'redis')
    problems.push('QS_GENESIS: where all super-validators order together there is no synchronizer')
  return problems
}

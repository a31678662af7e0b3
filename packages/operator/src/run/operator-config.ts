/** The configuration file of one operator: what `run` reads itself, and what the processes that it starts read. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import {
  type Env,
  EnvError,
  type EnvProblem,
  type EnvReader,
  readEnv,
  type VariableSpec,
} from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import { GENESIS_VARIABLE, readOperatorAddress } from '@quorumscan/config'
import { isPeerToken, messageOfRead, readInput, UsageError } from '@quorumscan/runtime'
import type { Genesis } from '@quorumscan/verifier'
import { memberSetOf } from '@quorumscan/verifier'
import {
  KEYS_OF,
  type MemberFile,
  memberKeyFile,
  newestMembers,
  ROLE_OF,
  type Runnable,
  readMember,
} from '../ceremony/member.ts'
import { type DataDirectory, dataDirectory } from '../data-directory.ts'
import { readGenesis } from '../genesis.ts'
import { REDIS_MEMORY_SPEC, REDIS_MEMORY_VARIABLE } from '../redis-memory.ts'
import { readKeyFile } from './key-files.ts'

const PORT_MAX = 65_535
const MEMBER_FILE = /\.member\.json$/

/** The variables that `run` reads itself. */
export const OWN_VARIABLES = {
  QS_NAME: { about: 'the name in the network, as given to `keys new`', example: 'sv-1' },
  QS_DATA_DIR: {
    about:
      'the directory in which `keys new` put its keys; Redis and the engine keep their files there, too',
    example: '/var/lib/quorumscan',
  },
  QS_MEMBERS: {
    about:
      'a directory with the member files (`*.member.json`) of all operators: names, addresses, keys',
    example: '/etc/quorumscan/members',
  },
  QS_SYNCHRONIZER_PORT: {
    about:
      'if all members order together: the loopback port of its own synchronizer, with its /metrics and health',
    example: '4624',
  },
} as const satisfies Readonly<Record<string, VariableSpec>>

/** Those of them that are optional. */
export const OPTIONAL_VARIABLES = {
  QS_ALLOW_READABLE_KEYS: {
    about:
      '1: accept private keys that other users of the machine can read, on a file system that has no rights',
    example: '1',
  },
  [REDIS_MEMORY_VARIABLE]: REDIS_MEMORY_SPEC,
  QS_CONSOLE_TOKEN_FILE: {
    about:
      'the file of the token with which a browser reads the console at QS_OPERATOR_ADDRESS, /console; without it there is no console',
    example: '/etc/quorumscan/console-token',
    file: parseConsoleToken,
  },
} as const satisfies Readonly<Record<string, VariableSpec>>

/** @throws {Error} If the text is not a token. The message does not contain the text. */
export function parseConsoleToken(text: string): string {
  const token = text.trim()
  if (isPeerToken(token)) return token
  throw new Error('the file must hold a token: 22 to 128 of A-Z a-z 0-9 _ -')
}

/** The variables of `backup`, which are optional. */
export const BACKUP_VARIABLES = {
  QS_BACKUPS: {
    about:
      'the directory in which `backup` writes without `--out`, and in which `status` looks for the newest',
    example: '/var/lib/quorumscan-backups',
  },
  QS_BACKUP_RECIPIENT: {
    about: 'the recipient of age to whom `backup` encrypts without `--encrypt-to`',
    example: 'age1…',
    read(text) {
      if (/^age1[a-z0-9]{58,}$/.test(text)) return text
      throw new Error(`${JSON.stringify(text)} is not a recipient of age, such as age1…`)
    },
  },
} as const satisfies Readonly<Record<string, VariableSpec>>

export type OperatorConfig = {
  readonly runs: Runnable
  readonly name: string
  readonly directory: DataDirectory
  readonly genesis: Genesis
  readonly genesisFile: string
  /** The directory of the member files of all. */
  readonly memberDirectory: string
  /** The members whose files it has, itself included. */
  readonly members: readonly MemberFile[]
  /** The file's variables, which every process receives. */
  readonly variables: Env
  /** The port on which the synchronizer of an ordering member serves followers. */
  readonly synchronizerPort: number
  /** The directory of backups; null: it has none. */
  readonly backupDirectory: string | null
  /** Of age; null: backups are not encrypted. */
  readonly backupRecipient: string | null
  /** Where `run` serves metrics and health; null: each process serves its own on its port. */
  readonly operatorAddress: { readonly host: string; readonly port: number } | null
  /** The file of the token of the console; null: there is no console. */
  readonly consoleTokenFile: string | null
  /** The variables that it read itself. */
  readonly known: ReadonlySet<string>
}

/**
 * What could be read of a configuration, with or without problems. Null: it could not be read, which is one of its
 * problems.
 */
export type UncheckedConfig = Omit<OperatorConfig, 'directory' | 'genesis' | 'members'> & {
  readonly [Part in 'directory' | 'genesis' | 'members']: OperatorConfig[Part] | null
}

/** Whether all members order together. Without a genesis, the variables show it. */
export function isMemberOrdered({
  genesis,
  variables,
}: Pick<UncheckedConfig, 'genesis' | 'variables'>): boolean {
  return genesis === null
    ? Boolean(variables['QS_SYNCHRONIZER_PORT'] || variables['QS_ENGINE_ADDRESS'])
    : genesis.ordering.driver === 'cometbft'
}

/**
 * What the configuration in the file runs, by the keys in its data directory.
 *
 * @throws {UsageError} If the directory has no key of that name.
 */
export function findRole(file: string): Runnable {
  const { QS_NAME: name = '', QS_DATA_DIR: path = '' } = readVariables(file)
  const runnables = Object.keys(ROLE_OF) as readonly Runnable[]
  const hasKey = (runs: Runnable) =>
    mayExist(memberKeyFile(dataDirectory(path), name, KEYS_OF[ROLE_OF[runs]][0]))
  const found = name && path && runnables.find(hasKey)
  if (found) return found
  throw new UsageError(
    `${file} names no operator of this machine: QS_DATA_DIR (${path}) has no key of QS_NAME (${name})`,
  )
}

/** Also if this user may not look: then the reason is reported with the role. */
function mayExist(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** The variables of the file, as they are. @throws {UsageError} If it cannot be read, or a line has no effect. */
export function readVariables(file: string): Env {
  const parse = (bytes: Buffer) => {
    const text = bytes.toString()
    const problems = problemsOfLines(text)
    if (problems.length > 0) throw new Error(problems.join('; '))
    return parseEnv(text)
  }
  return readInput(file, parse, 'the configuration cannot be read: ')
}

/** A line that sets a variable, as `parseEnv` of Node reads it, with the quote that begins its value. */
const ASSIGNMENT = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(["'`]?)(.*)$/
const BLANK_OR_COMMENT = /^\s*(?:#.*)?$/

/**
 * Lines without effect: `parseEnv` passes over one that sets no variable, and of two values of one name the last wins. The
 * lines are counted from 1.
 */
function problemsOfLines(text: string): readonly string[] {
  const linesByName = new Map<string, number[]>()
  const problems: string[] = []
  /** The quote that ends a value of several lines; null outside of one. */
  let open: string | null = null
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (open !== null) {
      if (line.includes(open)) open = null
      continue
    }
    const [, name, quote = '', rest = ''] = ASSIGNMENT.exec(line) ?? []
    if (name === undefined) {
      if (!BLANK_OR_COMMENT.test(line))
        problems.push(`line ${index + 1} sets no variable: write NAME=value, or # before a comment`)
      continue
    }
    linesByName.set(name, [...(linesByName.get(name) ?? []), index + 1])
    const isOfSeveralLines =
      quote !== '' &&
      !rest.includes(quote) &&
      text
        .split('\n')
        .slice(index + 1)
        .join('\n')
        .includes(quote)
    if (isOfSeveralLines) open = quote
  }
  for (const [name, lines] of linesByName)
    if (lines.length > 1)
      problems.push(`it sets ${name} in the lines ${lines.join(' and ')}; leave one of them`)
  return problems
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
  judge: (config: UncheckedConfig) => readonly EnvProblem[],
): OperatorConfig {
  const variables = readVariables(file)
  const known = new Set<string>()
  try {
    return readEnv(
      variables,
      (reader) => {
        const config = readOperator(reader, { runs, variables, known })
        /** Whether the problem only follows from another one. */
        const follows = ({ variable }: EnvProblem) =>
          ((config.genesis === null || config.members === null) &&
            FOLLOW_FROM_GENESIS.has(variable)) ||
          (!isNameKnown(config) && FOLLOW_FROM_NAME.has(variable))
        for (const problem of judge(config)) if (!follows(problem)) reader.problem(problem)
        return config as OperatorConfig // What is missing is a problem: then nothing is returned.
      },
      ({ name }) => known.add(name),
    )
  } catch (error) {
    if (error instanceof EnvError)
      throw new UsageError(
        `the configuration in ${file} is wrong:\n${error.message}\nNothing was done. Correct it, and try again; docs/configuration.md describes every variable`,
        { cause: error },
      )
    throw error
  }
}

function readOperator(
  reader: EnvReader,
  given: Pick<OperatorConfig, 'runs' | 'variables' | 'known'>,
): UncheckedConfig {
  const files: { genesis: Genesis | null; members: readonly MemberFile[] | null } = {
    genesis: null,
    members: null,
  }
  const name = reader.text('QS_NAME', OWN_VARIABLES.QS_NAME)
  const path = reader.text('QS_DATA_DIR', OWN_VARIABLES.QS_DATA_DIR)
  const genesisFile = reader.text('QS_GENESIS', {
    ...GENESIS_VARIABLE,
    read(file) {
      files.genesis = readGenesis(file)
      return file
    },
  })
  const memberDirectory = reader.text('QS_MEMBERS', {
    ...OWN_VARIABLES.QS_MEMBERS,
    read(directory) {
      files.members = readMembers(directory)
      return directory
    },
  })
  const directory = path === '' ? null : dataDirectory(path)
  const areReadableKeysAllowed = reader.flag(
    'QS_ALLOW_READABLE_KEYS',
    OPTIONAL_VARIABLES.QS_ALLOW_READABLE_KEYS,
  )
  const found = { ...given, ...files, directory, name, genesisFile, memberDirectory }
  for (const problem of [
    ...problemsOfKeys(found, areReadableKeysAllowed),
    ...problemsOfMembers(found),
  ])
    reader.problem(problem)
  const { QS_BACKUPS, QS_BACKUP_RECIPIENT } = BACKUP_VARIABLES
  const backupDirectory = reader.optional('QS_BACKUPS', QS_BACKUPS)
  const backupRecipient = reader.optional('QS_BACKUP_RECIPIENT', QS_BACKUP_RECIPIENT)
  reader.optional(REDIS_MEMORY_VARIABLE, REDIS_MEMORY_SPEC) // `planOperator` reads it.
  const port = { ...OWN_VARIABLES.QS_SYNCHRONIZER_PORT, range: [1, PORT_MAX] as const }
  const synchronizerPort = isMemberOrdered(found) ? reader.integer('QS_SYNCHRONIZER_PORT', port) : 0
  const operatorAddress = readOperatorAddress(reader)
  const consoleTokenFile = readConsoleTokenFile(reader, operatorAddress !== null)
  const isSocket = operatorAddress !== null && !('port' in operatorAddress)
  if (isSocket)
    reader.problem({
      variable: 'QS_OPERATOR_ADDRESS',
      place: 'value',
      why: '`run` serves HTTP: name host:port, not a unix socket',
    })
  return {
    ...found,
    backupDirectory,
    backupRecipient,
    synchronizerPort,
    operatorAddress: isSocket ? null : operatorAddress,
    consoleTokenFile,
  }
}

function readConsoleTokenFile(reader: EnvReader, hasListener: boolean): string | null {
  const file = reader.optional('QS_CONSOLE_TOKEN_FILE', OPTIONAL_VARIABLES.QS_CONSOLE_TOKEN_FILE)
  if (file === null) return null
  if (!hasListener)
    reader.problem({
      variable: 'QS_CONSOLE_TOKEN_FILE',
      place: 'value',
      why: 'the console is at QS_OPERATOR_ADDRESS, which is not set',
    })
  try {
    parseConsoleToken(readFileSync(file, 'utf8'))
  } catch (error) {
    reader.problem({
      variable: 'QS_CONSOLE_TOKEN_FILE',
      place: 'file',
      why: messageOfRead(error, file),
    })
  }
  return file
}

/** These name nodes, which are not known without a genesis, and their addresses, which are in the member files. */
const FOLLOW_FROM_GENESIS = new Set(['QS_NODES', 'QS_SEEDS', 'QS_PUBLIC_URL', 'QS_ENGINE_PEERS'])

/** `run` sets these from the name of the operator. */
const FOLLOW_FROM_NAME = new Set(['QS_NODE_NAME', 'QS_PUBLIC_URL'])

/** Whether the operator has a name, and the genesis names it, if it must. */
function isNameKnown({
  runs,
  name,
  genesis,
}: Pick<UncheckedConfig, 'runs' | 'name' | 'genesis'>): boolean {
  return (
    name !== '' &&
    (runs !== 'sv' ||
      genesis === null ||
      memberSetOf(genesis).members.some((node) => node.name === name))
  )
}

/**
 * The newest file of each member.
 *
 * @throws {Error} If it cannot be read, or holds a file that its keys did not sign.
 */
export function readMembers(directory: string): readonly MemberFile[] {
  return newestMembers(memberFilesOf(directory).map(readMember))
}

export function memberFilesOf(directory: string): readonly string[] {
  const isDirectory = statSync(directory, { throwIfNoEntry: false })?.isDirectory()
  if (isDirectory === false)
    throw new Error(`${directory} is a file, and not the directory with the member files`)
  const files = readdirSync(directory).filter((file) => MEMBER_FILE.test(file))
  return files.sort().map((file) => join(directory, file))
}

/** Problems of keys that are missing, or are not those that the others know. */
function problemsOfKeys(
  found: Pick<UncheckedConfig, 'runs' | 'name' | 'directory' | 'genesis' | 'members'>,
  areReadableAllowed: boolean,
): readonly EnvProblem[] {
  const { runs, name, directory, genesis, members } = found
  // Of a name that the genesis lacks, no key is the right one.
  if (directory === null || !isNameKnown(found)) return []
  const wrong = (why: string): EnvProblem => ({
    variable: 'QS_DATA_DIR',
    place: 'file',
    sentence: `QS_DATA_DIR, QS_NAME: ${why}`,
  })
  const inGenesis = genesis === null ? {} : publicKeysOf(genesis, runs, name)
  const inFile: Readonly<Record<string, string | undefined>> =
    members?.find((one) => one.name === name && one.role === ROLE_OF[runs])?.keys ?? {}
  return KEYS_OF[ROLE_OF[runs]].flatMap((kind) => {
    const file = memberKeyFile(directory, name, kind)
    const known = inGenesis[kind] ?? inFile[kind]
    const source = inGenesis[kind] === undefined ? 'its member file' : 'the genesis'
    const key = readKeyFile(file, {
      role: ROLE_OF[runs],
      areReadableAllowed,
      publicIn: known === undefined ? null : source,
    })
    if ('problem' in key) return [wrong(key.problem)]
    if ([key.publicKey, nodeIdOf(key.publicKey)].includes(known ?? key.publicKey)) return []
    return [
      wrong(
        `${file} is not the ${kind} key that ${source} names for ${name}: put back the key ` +
          'that was made for this network, or name its genesis and member files',
      ),
    ]
  })
}

/** The public keys of a member in the genesis, or the ids that follow from them. */
function publicKeysOf(
  genesis: Genesis,
  runs: Runnable,
  name: string,
): Readonly<Record<string, string | undefined>> {
  const { ordering } = genesis
  if (runs === 'synchronizer')
    return ordering.driver === 'redis' ? { synchronizer: ordering.key } : {}
  if (runs === 'validator') return {}
  const node = memberSetOf(genesis).members.find((one) => one.name === name)
  const validators = ordering.driver === 'cometbft' ? ordering.validators : []
  const validator = validators.find((one) => one.name === name)
  return {
    scan: node?.scanKey,
    operator: node?.operatorKey,
    voting: validator?.key,
    engine: validator?.nodeId,
  }
}

/** Problems of member files that contradict the genesis, or lack an address. */
export function problemsOfMembers({
  runs,
  name,
  genesis,
  members,
  memberDirectory,
}: Pick<
  UncheckedConfig,
  'runs' | 'name' | 'genesis' | 'members' | 'memberDirectory'
>): readonly EnvProblem[] {
  if (genesis === null || members === null) return []
  const { members: nodes } = memberSetOf(genesis)
  const areOrdering = genesis.ordering.driver === 'cometbft'
  const wrong = (variable: string, why: string): EnvProblem => ({ variable, place: 'file', why })
  return [
    ...nodes.flatMap((node) => {
      const member = members.find((one) => one.name === node.name && one.role === 'super-validator')
      if (member?.role !== 'super-validator')
        return [
          wrong(
            'QS_MEMBERS',
            `${memberDirectory} has no file of ${node.name}: put ${node.name}.member.json there, which its operator has`,
          ),
        ]
      const { keys, url, engineAddress } = member
      if (keys.scan !== node.scanKey || keys.operator !== node.operatorKey)
        return [wrong('QS_MEMBERS', `the genesis has other keys of ${node.name} than its file`)]
      if (url === null) return [wrong('QS_MEMBERS', `the file of ${node.name} has no url`)]
      return areOrdering && engineAddress === null
        ? [wrong('QS_MEMBERS', `the file of ${node.name} has no address of its engine`)]
        : []
    }),
    ...(runs === 'sv' && name !== '' && !nodes.some((node) => node.name === name)
      ? [
          wrong(
            'QS_NAME',
            `the genesis names no super-validator ${name}, but ${nodes.map((node) => node.name).join(', ')}`,
          ),
        ]
      : []),
    ...(runs === 'synchronizer' && areOrdering
      ? [
          wrong(
            'QS_GENESIS',
            'this network has no synchronizer, because all super-validators order together',
          ),
        ]
      : []),
  ]
}

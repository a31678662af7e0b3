/**
 * A backup of one operator holds its keys, the files that its configuration names, and what no log has. Of a
 * super-validator it may instead hold only the newest of the log, for another operator who must not have the keys. It
 * leaves out what follows from the log (replicas; queues of jobs, which a sweep fills again), what others have (the log
 * of members that order together), and what an engine has signed: an old record would let it sign a height twice.
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { toBase64 } from '@quorumscan/base'
import { LogGroupError, type ProvenGroup, readRecentGroups, readWholeLog } from '@quorumscan/log'
import { readStoredOffset } from '@quorumscan/replica'
import { CommandError, messageOf, messageOfRead, UsageError } from '@quorumscan/runtime'
import { readStore } from '@quorumscan/users'
import { formatInstant } from '@quorumscan/verifier'
import { KEYS_OF, memberKeyFile, ROLE_OF } from '../ceremony/member.ts'
import { hashGenesis, logGenesisOf } from '../genesis.ts'
import { memberFilesOf, type OperatorConfig } from '../run/operator-config.ts'
import { fileVariablesOf, type OwnNode } from '../run/operator-services.ts'
import { openOwnRedis } from '../run/own-redis.ts'
import { GENESIS_PATH, type Item, writeArchive } from './archive.ts'

/** The largest file that a variable names, such as a certificate or a token. */
export const NAMED_BYTES_MAX = 1024 * 1024
/** Variables that name programs, which are installed and not restored. */
const PROGRAM_VARIABLES = ['QS_COMETBFT', 'REDIS_SERVER']
/** Paths of one machine: a restore sets them to those of its machine. */
const MACHINE_VARIABLES = ['QS_DATA_DIR', 'QS_GENESIS', 'QS_MEMBERS', 'QS_BACKUPS']

type BackUpOptions = OwnNode & {
  readonly config: OperatorConfig
  readonly file: string
  /** Whether a super-validator writes only the newest groups of the log, from which a lost part of it is refilled. */
  readonly isLogOnly: boolean
  /** Of age; null: the file is not encrypted. */
  readonly recipient?: string | null
  /** Variables whose files are left out if they cannot be backed up. */
  readonly skip?: readonly string[]
}

/**
 * Writes a consistent backup, whether the operator's processes run or not.
 *
 * @returns What was left out, which the backup lists as well.
 * @throws {CommandError} If the file exists already, the log is damaged, or something cannot be read or is too large: no file
 *   is left then.
 */
export async function backUp(options: BackUpOptions): Promise<readonly Skipped[]> {
  const { config, isLogOnly, clock } = options
  const named = isLogOnly ? { texts: new Map<string, string>(), skipped: [] } : readNamed(options)
  const variables = Object.entries(isLogOnly ? {} : config.variables).flatMap(
    ([variable, value]) =>
      value === undefined || MACHINE_VARIABLES.includes(variable) ? [] : [[variable, value]],
  )
  const { runs: role, name } = config
  const genesisHash = hashGenesis(config.genesis)
  const takenAt = formatInstant(clock.nowMicros())
  const header = {
    role,
    name,
    genesisHash,
    takenAt,
    variables: Object.fromEntries(variables),
    ...(named.skipped.length > 0 && { skipped: named.skipped }),
  }
  const { file, recipient = null } = options
  await writeArchive(file, header, itemsOf(options, named.texts), recipient).catch(
    (error: unknown) => {
      if (!(error instanceof LogGroupError)) throw error
      throw new CommandError(
        `no backup was written: ${messageOf(error)}\n\`quorumscan log repair\` refills it from the groups that the nodes stored; ` +
          'then back it up again',
        { cause: error },
      )
    },
  )
  return named.skipped
}

async function* itemsOf(
  options: BackUpOptions,
  namedTexts: ReadonlyMap<string, string>,
): AsyncGenerator<Item> {
  const { config, isLogOnly } = options
  if (!isLogOnly) {
    for (const [path, source] of filesOf(config))
      yield { kind: 'file', path, text: readFileSync(source, 'utf8') }
    for (const [variable, text] of namedTexts)
      yield { kind: 'file', path: `files/${variable}`, text }
  }
  if (config.runs === 'sv' && !isLogOnly) return
  await using own = await openOwnRedis(options)
  if (config.runs === 'validator')
    for (const part of await readStore(own.redis))
      yield { kind: 'kept', key: part.key, items: part.items.map((item) => [...item]) }
  else if (config.runs === 'sv') {
    const offset = await readStoredOffset(own.redis)
    yield { kind: 'head', offset }
    const stored = await readRecentGroups({ redis: own.redis, applied: offset })
    for (const group of stored.values()) yield itemOf(group)
  } else {
    const { signal } = new AbortController()
    const log = { redis: own.redis, genesis: logGenesisOf(config.genesis), signal }
    for await (const group of readWholeLog(log)) yield itemOf(group)
  }
}

function itemOf({ bytes, signature }: ProvenGroup): Item {
  return { kind: 'group', bytes: toBase64(bytes), signature: toBase64(signature) }
}

/** The files of every operator, by their path in the backup. */
function filesOf(config: OperatorConfig): ReadonlyMap<string, string> {
  const { directory, name, runs, memberDirectory } = config
  const keys = KEYS_OF[ROLE_OF[runs]].map((kind) => memberKeyFile(directory, name, kind))
  return new Map([
    ...keys.map((file) => [`keys/${basename(file)}`, file] as const),
    [`${name}.member.json`, directory.memberFile(name)],
    [GENESIS_PATH, config.genesisFile],
    ...memberFilesOf(memberDirectory).map((file) => [`members/${basename(file)}`, file] as const),
  ])
}

/** A variable whose file is not in a backup, and why. */
export type Skipped = { readonly variable: string; readonly reason: string }

/**
 * Reads the files that variables name.
 *
 * @throws {CommandError} If one cannot be backed up and is not to be skipped.
 */
function readNamed({ config, skip = [] }: BackUpOptions) {
  const variables = fileVariablesIn(config)
  const unknown = skip.find((variable) => !variables.has(variable))
  if (unknown !== undefined)
    throw new UsageError(
      `--skip ${unknown}: the configuration names no file by this variable. Those with files: ${[...variables.keys()].join(', ') || 'none'}`,
    )
  const texts = new Map<string, string>()
  const skipped: Skipped[] = []
  for (const [variable, file] of variables)
    try {
      texts.set(variable, readNamedFile(file))
    } catch (error) {
      skipped.push({ variable, reason: messageOfRead(error, file) })
    }
  const left = skipped.filter(({ variable }) => !skip.includes(variable))
  if (left.length === 0) return { texts, skipped }
  const lines = left.map(({ variable, reason }) => `${variable}: ${reason}`)
  throw new CommandError(
    `no backup was written, because a restore would lack files that the configuration names:\n${lines.join('\n')}\n` +
      `\`--skip ${left.map(({ variable }) => variable).join(' ')}\` leaves them out; keep them elsewhere then`,
  )
}

/** The files by their variables: those that a process reads, and existing files of other variables, as of Node's. */
function fileVariablesIn(config: OperatorConfig): ReadonlyMap<string, string> {
  const ofProcesses = fileVariablesOf(config)
  const isExcluded = (variable: string) =>
    MACHINE_VARIABLES.includes(variable) || PROGRAM_VARIABLES.includes(variable)
  const isFile = (value: string) => statSync(value, { throwIfNoEntry: false })?.isFile() === true
  return new Map(
    Object.entries(config.variables).flatMap(([variable, value]) =>
      value &&
      !isExcluded(variable) &&
      (ofProcesses.has(variable) || (value.includes('/') && isFile(value)))
        ? [[variable, value] as const]
        : [],
    ),
  )
}

/** @throws {Error} If it cannot be read, is too large, or is not text. */
function readNamedFile(file: string): string {
  const { size } = statSync(file)
  if (size > NAMED_BYTES_MAX)
    throw new RangeError(`${size} bytes are more than the ${NAMED_BYTES_MAX} of a file in a backup`)
  const bytes = readFileSync(file)
  if (!isUtf8(bytes)) throw new TypeError('not text in UTF-8')
  return bytes.toString()
}

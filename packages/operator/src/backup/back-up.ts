/**
 * A backup of one operator holds its keys, the files that its configuration names, and what no log has. Of a
 * super-validator it may instead hold only the newest of the log, for another operator who must not have the keys. It
 * leaves out what follows from the log (replicas; queues of jobs, which a sweep fills again), what others have (the log
 * of members that order together), and what an engine has signed: an old record would let it sign a height twice.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { toBase64 } from '@quorumscan/base'
import { LogGroupError, type ProvenGroup, readRecentGroups, readWholeLog } from '@quorumscan/log'
import { readStoredOffset } from '@quorumscan/replica'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { readStore } from '@quorumscan/users'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { KEYS_OF, memberKeyFile, ROLE_OF } from '../ceremony/member.ts'
import { hashGenesis, logGenesisOf } from '../genesis.ts'
import { memberFilesOf, type OperatorConfig } from '../run/operator-config.ts'
import type { OwnNode } from '../run/operator-services.ts'
import { openOwnRedis } from '../run/own-redis.ts'
import { GENESIS_PATH, type Item, writeArchive } from './archive.ts'

/** A file that a variable names: certificates and tokens, and no program. */
const NAMED_BYTES_MAX = 1024 * 1024
/** Paths of one machine: a restore sets them to those of its machine. */
const MACHINE_VARIABLES = ['QS_DATA_DIR', 'QS_GENESIS', 'QS_MEMBERS', 'QS_BACKUPS']

type BackUpOptions = OwnNode & {
  readonly config: OperatorConfig
  readonly file: string
  /** Whether a super-validator writes only the newest groups of the log, from which a lost part of it is refilled. */
  readonly isLogOnly: boolean
  /** Of age; null: the file is not encrypted. */
  readonly recipient?: string | null
}

/**
 * Writes a consistent backup, whether the operator's processes run or not.
 *
 * @throws {CommandError} If the file exists already, the log is damaged, or something cannot be read: no file is left then.
 */
export async function backUp(options: BackUpOptions): Promise<void> {
  const { config, isLogOnly, clock } = options
  const variables = Object.entries(isLogOnly ? {} : config.variables).flatMap(
    ([variable, value]) =>
      value === undefined || MACHINE_VARIABLES.includes(variable) ? [] : [[variable, value]],
  )
  const { runs: role, name } = config
  const genesisHash = hashGenesis(config.genesis)
  const takenAt = formatTime(clock.nowMicros())
  const header = { role, name, genesisHash, takenAt, variables: Object.fromEntries(variables) }
  const { file, recipient = null } = options
  await writeArchive(file, header, itemsOf(options), recipient).catch((error: unknown) => {
    if (!(error instanceof LogGroupError)) throw error
    throw new CommandError(
      `no backup was written: ${messageOf(error)}\n\`quorumscan log repair\` refills it from the groups that the nodes stored; ` +
        'then back it up again',
      { cause: error },
    )
  })
}

async function* itemsOf(options: BackUpOptions): AsyncGenerator<Item> {
  const { config, isLogOnly } = options
  if (!isLogOnly)
    for (const [path, source] of filesOf(config))
      yield { kind: 'file', path, text: readFileSync(source, 'utf8') }
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

/** The source files, by their path in the backup. */
function filesOf(config: OperatorConfig): ReadonlyMap<string, string> {
  const { directory, name, runs, variables, memberDirectory } = config
  const keys = KEYS_OF[ROLE_OF[runs]].map((kind) => memberKeyFile(directory, name, kind))
  return new Map([
    ...keys.map((file) => [`keys/${basename(file)}`, file] as const),
    [`${name}.member.json`, directory.memberFile(name)],
    [GENESIS_PATH, config.genesisFile],
    ...memberFilesOf(memberDirectory).map((file) => [`members/${basename(file)}`, file] as const),
    ...Object.entries(variables).flatMap(([variable, value]) =>
      isNamedFile(variable, value) ? [[`files/${variable}`, value] as const] : [],
    ),
  ])
}

function isNamedFile(variable: string, value: string | undefined): value is string {
  if (value === undefined || MACHINE_VARIABLES.includes(variable) || !value.includes('/'))
    return false
  const stats = statSync(value, { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size <= NAMED_BYTES_MAX
}

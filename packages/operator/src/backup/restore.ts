/** Restores a backup into a new data directory, from which `run` continues. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EnvError, type EnvProblem } from '@quorumscan/base'
import { decodeGroup, LogGroupError, type ProvenGroup, writeWholeLog } from '@quorumscan/log'
import {
  CommandError,
  makePrivateDirectory,
  messageOf,
  syncDirectory,
  UsageError,
  writeFileAtomic,
} from '@quorumscan/runtime'
import { type StorePart, writeStore } from '@quorumscan/users'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import { dataDirectory } from '../data-directory.ts'
import { hashGenesis, logGenesisOf } from '../genesis.ts'
import { readOperatorConfig } from '../run/operator-config.ts'
import { type OwnNode, validateProcesses } from '../run/operator-services.ts'
import { openOwnRedis } from '../run/own-redis.ts'
import { type Archive, GENESIS_PATH, type Header, openArchive } from './archive.ts'

const CONFIG_FILE = 'run.env'
/** The directory in the target that holds the restored files until all are complete. */
const STAGE = '.restore'
const NAME_ANOTHER = '`--to` takes a directory that is empty or does not exist'
/** An empty directory may hold these: the stage of a restore that was interrupted, and the directory that `mkfs` makes. */
const EMPTY = [STAGE, 'lost+found']

type RestoreOptions = Omit<OwnNode, 'config'> & {
  readonly file: string
  /** The data directory, which is made. */
  readonly target: string
  /** Variables that have other values on this machine, such as addresses and ports. */
  readonly overrides: Readonly<Record<string, string>>
  /** Identities of age, one of which decrypts each encrypted backup. */
  readonly identities?: readonly string[]
  /** Backups of super-validators, with groups of the log that may be newer than those of a synchronizer. */
  readonly logFiles: readonly string[]
}

/** A backup that is being restored. */
type Stage = Pick<RestoreOptions, 'overrides'> & {
  readonly header: Header
  /** The directory of the restored files until all are complete. */
  readonly stage: string
}

export type Restored = Awaited<ReturnType<typeof restore>>

/**
 * Returns when all is in its place and on disk. A partly restored directory never has a configuration.
 *
 * @throws {CommandError} If a file is damaged or of another network, or the target holds something: nothing was changed.
 */
export async function restore(options: RestoreOptions) {
  const target = resolve(options.target)
  refuseUnlessEmpty(target)
  const open = (file: string) => openArchive(file, options.identities)
  const archive = await open(options.file)
  const { header } = archive
  const others = await Promise.all(options.logFiles.map(open))
  const foreign = others.findIndex((other) => other.header.genesisHash !== header.genesisHash)
  if (foreign >= 0)
    throw new CommandError(
      `${options.logFiles[foreign]} is a backup of another network: name those of super-validators of this one`,
    )
  const isNew = !existsSync(target)
  const stage = makeStage(target)
  const staged = { header, stage, overrides: options.overrides }
  try {
    for await (const item of archive.items())
      if (item.kind === 'file') writeFileAtomic(join(stage, item.path), item.text)
    const genesis = readGenesisOf(staged)
    refuseWrongOverrides(staged)
    const logEnd = await fillRedis({ ...options, ...staged, archive, others, genesis })
    writeFileAtomic(join(stage, CONFIG_FILE), configOf(staged, target))
    moveFromStage(stage, target)
    const { role, name, takenAt, skipped = [] } = header
    const configFile = join(target, CONFIG_FILE)
    return { role, name, takenAt, genesis, logEnd, configFile, skipped }
  } catch (error) {
    rmSync(isNew ? target : stage, { recursive: true, force: true })
    if (!(error instanceof LogGroupError || error instanceof RangeError)) throw error
    throw new CommandError(`${options.file} was not restored: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** @throws {UsageError} If the target is not a directory, or is not empty. */
function refuseUnlessEmpty(target: string): void {
  const stats = statSync(target, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) throw new UsageError(`${target} is not a directory: ${NAME_ANOTHER}`)
  if (readdirSync(target).some((name) => !EMPTY.includes(name)))
    throw new UsageError(`${target} is not empty: nothing was changed. ${NAME_ANOTHER}`)
}

/**
 * The target stays the directory that it is: it may be a mount point, or belong to a user who can write nothing in
 * the directory above.
 *
 * @throws {UsageError} If nothing can be written there.
 */
function makeStage(target: string): string {
  const stage = join(target, STAGE)
  try {
    makePrivateDirectory(target)
    rmSync(stage, { recursive: true, force: true })
    makePrivateDirectory(stage)
    return stage
  } catch (error) {
    const needed = existsSync(target) ? 'own it' : 'be able to write in the directory above'
    const message = `nothing was restored: ${messageOf(error)}. The user of this command must ${needed}. ${NAME_ANOTHER}`
    throw new UsageError(message, { cause: error })
  }
}

/** The configuration comes last: without it nothing runs. If one file cannot be moved, none is. */
function moveFromStage(stage: string, target: string): void {
  const names = readdirSync(stage).filter((name) => name !== CONFIG_FILE)
  const moved: string[] = []
  try {
    for (const name of [...names, CONFIG_FILE]) {
      renameSync(join(stage, name), join(target, name))
      moved.push(name)
    }
    rmdirSync(stage)
  } catch (error) {
    for (const name of moved) rmSync(join(target, name), { recursive: true, force: true })
    throw error
  }
  for (const path of [target, dirname(target)]) syncDirectory(path)
}

function readGenesisOf({ header, stage }: Stage): Genesis {
  const file = join(stage, GENESIS_PATH)
  if (!existsSync(file))
    throw new UsageError(
      'this backup contains only log entries and no keys, so no operator can be restored from it. Pass it with ' +
        '`--log` to `restore` or `log repair`',
    )
  const genesis = parseGenesis(JSON.parse(readFileSync(file, 'utf8')))
  if (hashGenesis(genesis) === header.genesisHash) return genesis
  throw new CommandError(
    'the genesis in the backup is not the one that its first line names: use another copy, or an older backup',
  )
}

/**
 * Other problems are reported by `run`: a backup of an older release is restored all the same.
 *
 * @throws {UsageError} If an override has a wrong value, or its variable does not exist.
 */
function refuseWrongOverrides(staged: Stage): void {
  const file = join(staged.stage, CONFIG_FILE)
  writeFileAtomic(file, configOf(staged, staged.stage))
  let all: readonly EnvProblem[] = []
  try {
    readOperatorConfig(staged.header.role, file, validateProcesses)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    if (error.cause instanceof EnvError) all = error.cause.problems
  }
  // The file that a variable names may come later: `run` reads it.
  const problems = all.filter(
    ({ variable, others = [], place }) =>
      [variable, ...others].some((name) => name in staged.overrides) && place !== 'file',
  )
  if (problems.length > 0)
    throw new UsageError(
      `nothing was restored: the variables of \`--set\` are wrong:\n${new EnvError(problems).message}\nCorrect them, and restore again`,
    )
}

/** Returns the last offset of the log; null unless it is of a synchronizer. */
async function fillRedis(
  options: RestoreOptions &
    Stage & {
      readonly archive: Archive
      readonly others: readonly Archive[]
      readonly genesis: Genesis
    },
): Promise<number | null> {
  const { archive, others, genesis, stage } = options
  const { role, name } = archive.header
  // All that a super-validator has in its Redis follows from the log.
  if (role === 'sv') return null
  const variables = variablesOf(options, stage)
  const config = { runs: role, name, directory: dataDirectory(stage), variables }
  await using own = await openOwnRedis({ ...options, config })
  if (role === 'validator') {
    await writeStore(own.redis, storePartsOf(archive))
    return null
  }
  const more = []
  for (const other of others)
    for await (const group of groupsOf(other))
      more.push({ ...group, firstOffset: decodeGroup(group.bytes).firstOffset })
  const { signal } = new AbortController()
  const log = { redis: own.redis, genesis: logGenesisOf(genesis), signal }
  return (await writeWholeLog(log, groupsOf(archive), more)).offset
}

async function* storePartsOf(archive: Archive): AsyncGenerator<StorePart> {
  for await (const item of archive.items()) if (item.kind === 'kept') yield item
}

/** The groups of the log, in order. */
export async function* groupsOf(archive: Archive): AsyncGenerator<ProvenGroup> {
  for await (const item of archive.items())
    if (item.kind === 'group')
      yield { bytes: bytesOf(item.bytes), signature: bytesOf(item.signature) }
}

function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'))
}

/** The configuration, for a data directory at `path`. */
function configOf(staged: Stage, path: string): string {
  const lines = Object.entries(variablesOf(staged, path)).map(
    ([variable, value]) => `${variable}=${quoted(value)}`,
  )
  return `# From a backup of ${staged.header.takenAt}.\n${lines.join('\n')}\n`
}

/** The variables of the backup, with the files of a data directory at `path`. */
function variablesOf({ header, stage, overrides }: Stage, path: string): Record<string, string> {
  const placed = Object.entries(header.variables).map(([variable, value]) => [
    variable,
    existsSync(join(stage, 'files', variable)) ? join(path, 'files', variable) : value,
  ])
  const [QS_GENESIS, QS_MEMBERS] = [join(path, GENESIS_PATH), join(path, 'members')]
  const places = { QS_DATA_DIR: path, QS_GENESIS, QS_MEMBERS }
  return { ...Object.fromEntries(placed), ...places, ...overrides }
}

/** A value as `parseEnv` of Node reads it: without quotes where possible. */
function quoted(value: string): string {
  if (/^[A-Za-z0-9_./:@,+=-]*$/.test(value)) return value
  const quote = ['"', "'", '`'].find((mark) => !value.includes(mark))
  if (quote === undefined) throw new CommandError(`${value} cannot be written into a configuration`)
  return `${quote}${value}${quote}`
}

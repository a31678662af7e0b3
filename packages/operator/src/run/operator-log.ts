/** The log of the one synchronizer. It is read while all processes run or none does, and repaired while none runs. */

import { type GroupHolder, openStoredGroup, type StoredGroup } from '@quorumscan/log'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import { type Archive, openArchive } from '../backup/archive.ts'
import { groupsOf } from '../backup/restore.ts'
import { ROLE_OF } from '../ceremony/member.ts'
import { hashGenesis } from '../genesis.ts'
import { type RepairOutcome, repairLog } from '../log-repair.ts'
import { isMemberOrdered, type OperatorConfig, readOperatorConfig } from './operator-config.ts'
import { externalRedisOf, type OwnNode, planOwnRedis } from './operator-services.ts'
import { lockDirectory, openOwnRedis, redisRunner } from './own-redis.ts'

const NO_SINGLE_LOG =
  'this network has no synchronizer whose log could be verified or repaired: all super-validators order together, and ' +
  'each keeps a copy of the log. A super-validator that lost or damaged its copy gets it from the others: stop it, ' +
  'delete `redis`, `engines` and `snapshots` in its data directory, and run it again'

export type OperatorLogOptions = OwnNode & { readonly config: OperatorConfig }

/**
 * The configuration of a synchronizer.
 *
 * @throws {CommandError} If the network has ordering members instead of one synchronizer.
 * @throws {UsageError} If something is missing or wrong.
 */
export function readLogConfig(file: string): OperatorConfig {
  return readOperatorConfig('synchronizer', file, (config) => {
    if (isMemberOrdered(config)) throw new CommandError(NO_SINGLE_LOG)
    return []
  })
}

/** @throws {CommandError} If it does not answer, or does not start. */
export async function openOperatorLog(options: OperatorLogOptions) {
  try {
    return await openOwnRedis(options)
  } catch (error) {
    if (!(error instanceof CommandError) || externalRedisOf(options.config) !== null) throw error
    throw new CommandError(
      `the log cannot be read: ${messageOf(error)}. Stop that process, if it runs. Only if Redis reports that the files are damaged: \`quorumscan log repair\` repairs files that Redis cannot load`,
      { cause: error },
    )
  }
}

/**
 * Repairs the log with the groups that super-validators sent.
 *
 * @param options.logFiles - As `backup sv --log` writes them.
 * @throws {CommandError} If the synchronizer runs, its Redis is external, or a file is not of this network.
 */
export async function repairOperatorLog(
  options: OperatorLogOptions & {
    readonly logFiles: readonly string[]
    readonly isCutAllowed: boolean
  },
): Promise<RepairOutcome> {
  const { config, clock, logFiles, isCutAllowed } = options
  const { directory, genesis } = config
  if (externalRedisOf(config) !== null)
    throw new CommandError(
      'the log is in the Redis that QS_LOG_REDIS names, and is repaired only in one that `run` starts: ' +
        'restore a backup into an empty one, with `restore --log`',
    )
  const archives = await Promise.all(logFiles.map((file) => openLogFile(file, config)))
  const nodes = memberSetOf(genesis).members.map(({ name }) => followerOf(name, archives))
  await using lock = await lockDirectory(directory, clock).catch((cause: unknown) => {
    const message = `nothing was repaired, because the log may grow: ${messageOf(cause)}. Stop that first, and try again; lookups continue for a minute`
    throw new CommandError(message, { cause })
  })
  const redisOf = (name: string) =>
    planOwnRedis({ ...options, config: { ...config, name } }, lock.socketDirectory)
  const log = redisOf(config.name)
  await using runner = redisRunner([log], { directory, clock })
  return await repairLog({
    log,
    nodes: await Promise.all(nodes),
    // A follower that keeps nothing is unknown here. If it applied what is cut off, it reports that itself.
    others: [],
    spares: { copy: redisOf(`${config.name}.copy`), repaired: redisOf(`${config.name}.repaired`) },
    genesis,
    runner,
    isCutAllowed,
    clock,
  })
}

async function openLogFile(file: string, { genesis }: OperatorConfig): Promise<Archive> {
  const archive = await openArchive(file)
  const { role, genesisHash } = archive.header
  if (genesisHash !== hashGenesis(genesis))
    throw new UsageError(
      `${file} is a backup of another network: ask super-validators of this one for theirs`,
    )
  if (role === 'sv' && Object.keys(archive.header.variables).length > 0)
    throw new UsageError(
      `${file} is a backup of ${archive.header.name}: it contains its keys and no log entries. Ask for the file that ` +
        '`backup sv --log` writes, and delete this one',
    )
  if (role !== 'sv')
    throw new UsageError(
      `${file} is a backup of a ${ROLE_OF[role]}: name those that super-validators wrote by \`backup sv --log\``,
    )
  return archive
}

async function followerOf(name: string, archives: readonly Archive[]): Promise<GroupHolder> {
  const archive = archives.find(({ header }) => header.name === name)
  if (archive === undefined) return { name, head: null, readStored: async () => [] }
  return { name, head: await headOf(archive), readStored: () => storedOf(archive) }
}

/** Null: an older release wrote the file, which does not hold it. */
async function headOf(archive: Archive): Promise<number | null> {
  for await (const item of archive.items()) if (item.kind === 'head') return item.offset
  return null
}

async function storedOf(archive: Archive): Promise<readonly StoredGroup[]> {
  const stored: StoredGroup[] = []
  for await (const { bytes, signature } of groupsOf(archive)) {
    const group = openStoredGroup(bytes, signature)
    if (group !== null) stored.push(group)
  }
  return stored
}

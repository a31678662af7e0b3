/** What an operator's part needs of its machine: Redis, the engine, and space on the disk. */
import { statfs } from 'node:fs/promises'
import { type Clock, withTimeout } from '@quorumscan/base'
import { LOG_USER } from '@quorumscan/log'
import { assertProfile, readRedisAddress, withRedis } from '@quorumscan/redis'
import { messageOf } from '@quorumscan/runtime'
import { assertRedisUsable } from '@quorumscan/supervisor'
import type { OperatorConfig } from '../run/operator-config.ts'
import { externalRedisOf, redisVariableOf } from '../run/operator-services.ts'
import { problemOfMemory, storedMemoryBytes } from '../run/stored-memory.ts'
import { asserted, type Check, failed, ok, warning, warningIn } from './check.ts'

const MIB = 2 ** 20
/** A node that has less takes no snapshots. */
const SNAPSHOT_MIB_MIN = 1024
const REDIS_MS_MAX = 3_000
const ROOM = 'Make room (docs/operations.md, "A full disk")'

type Config = Pick<OperatorConfig, 'runs' | 'name' | 'variables' | 'directory'>

/** The command by which `run` starts a Redis, or the Redis that the file names, with its settings. */
export async function checkRedis(
  config: Config,
  { redisServer, clock }: { readonly redisServer: string; readonly clock: Clock },
): Promise<Check> {
  const external = externalRedisOf(config)
  if (external === null) {
    const program = await asserted('Redis', async () => {
      await assertRedisUsable(redisServer)
      return `${redisServer} can be started`
    })
    const storedBytes = await storedMemoryBytes(config.directory.redisDirectory(config.name))
    const problem = problemOfMemory(storedBytes ?? 0, config.variables)
    // It may need less by now: `run` refuses if it does not.
    return program.state === 'failed' || problem === null
      ? program
      : warningIn('Redis', problem, 'Raise QS_REDIS_MEMORY_MIB')
  }
  const isLog = config.runs === 'synchronizer'
  const variable = redisVariableOf(config.runs)
  const advice = `docs/operations.md, "A Redis of your own", lists what it needs. Correct ${variable}, or that Redis`
  /** The variable with its value, which has no secret. */
  const named = (name: string) => {
    const value = config.variables[name]
    return value ? `${name}=${value}` : `${name} is not set`
  }
  /** Why there is no connection; a command only reports that there is none. */
  let unreachable: unknown = null
  try {
    const address = await readRedisAddress(external, isLog ? LOG_USER : undefined)
    const bound = { clock, timeoutMs: REDIS_MS_MAX }
    const work = () =>
      withRedis(
        address,
        'probe',
        async (redis) => {
          await redis.ping()
          // The synchronizer checks that of the log, whose user may do nothing else.
          if (!isLog) await assertProfile(redis, config.runs === 'sv' ? 'replicaRead' : 'users')
        },
        (error) => {
          unreachable ??= error
        },
      )
    await withTimeout(bound, work, () => {
      throw new Error(`no answer within ${REDIS_MS_MAX} ms`)
    })
    return ok('Redis', 'it answers, and has the settings that it needs')
  } catch (error) {
    const { name, message } = error as Error
    const refused = REFUSALS.find(({ pattern }) => pattern.test(message))
    if (refused !== undefined)
      return failed(
        'Redis',
        `${named(variable + refused.suffix)}: ${refused.what} (${message})`,
        advice,
      )
    // It has other settings. It may be loading its file.
    const isRefused = /^(ReplyError|ScanError)$/.test(name) && !message.startsWith('LOADING')
    if (isRefused) return failed('Redis', `${named(variable)}: ${message}`, advice)
    return warning(
      'Redis',
      `${named(variable)}: it does not answer: ${messageOf(unreachable ?? error)}. Until it does, no process can start`,
      advice,
    )
  }
}

/** What a Redis answers to a user that it does not accept, and the variable whose file it concerns. */
const REFUSALS = [
  { pattern: /^WRONGPASS/, suffix: '_PASSWORD_FILE', what: 'it refuses this user and password' },
  {
    pattern: /^NOAUTH/,
    suffix: '_PASSWORD_FILE',
    what: 'it asks for a password',
  },
  { pattern: /^NOPERM/, suffix: '_USER_FILE', what: 'this user may not do what is needed' },
]

/** @param freeMibMin - Below it the synchronizer of this operator accepts no entries. */
export async function checkDisk(
  { path }: Config['directory'],
  freeMibMin: number,
  freeBytesOf: (directory: string) => Promise<number> = freeBytesOnDisk,
): Promise<Check> {
  const freeMib = Math.floor((await freeBytesOf(path)) / MIB)
  const detail = `${freeMib} MiB are free in ${path}`
  if (freeMib < 1) return failed('disk', detail, ROOM)
  if (freeMib < freeMibMin)
    return warning('disk', `${detail}; below ${freeMibMin} it accepts no entries (LOG_FULL)`, ROOM)
  if (freeMib < SNAPSHOT_MIB_MIN)
    return warning('disk', `${detail}; below ${SNAPSHOT_MIB_MIN} it takes no snapshots`, ROOM)
  return ok('disk', detail)
}

async function freeBytesOnDisk(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

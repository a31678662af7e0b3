/** Redis servers of this machine: whether the command can be used, and whether a server answers. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isRedisNewEnough, REDIS_VERSION_MIN, readRedisVersion, succeeds } from '@quorumscan/base'
import { withRedis } from '@quorumscan/redis'
import { CommandError } from '@quorumscan/runtime'

const VERSION_MS_MAX = 10_000
const ADVICE = `install Redis ${REDIS_VERSION_MIN} or newer, or Valkey, or set REDIS_SERVER`

/** @throws {CommandError} If the command is no server of Redis or Valkey, or an older version. */
export async function assertRedisUsable(command: string): Promise<void> {
  const asked = promisify(execFile)(command, ['--version'], { timeout: VERSION_MS_MAX })
  const { stdout } = await asked.catch((cause: unknown) => {
    throw new CommandError(`${command} cannot be run; ${ADVICE}`, { cause })
  })
  const version = readRedisVersion(stdout)
  if (isRedisNewEnough(version)) return
  const found = version === null ? 'no server of Redis or Valkey' : `Redis ${version}`
  throw new CommandError(`${command} is ${found}; ${ADVICE}`)
}

/** A Redis on a unix socket of this machine. */
export type LocalRedis = {
  readonly path: string
  /** Absent where the default user needs no password. */
  readonly username?: string
  readonly password?: string
}

/** Whether the Redis has loaded its data and answers in time. A paused process never does. */
export function isRedisReady(address: LocalRedis): Promise<boolean> {
  return succeeds(withRedis(address, 'probe', (redis) => redis.ping()))
}

/** Whether the Redis answers in time, also with an error, such as while it loads its data. */
export async function doesRedisAnswer(address: LocalRedis): Promise<boolean> {
  try {
    await withRedis(address, 'probe', (redis) => redis.ping())
    return true
  } catch (error) {
    return (error as Error).name === 'ReplyError'
  }
}

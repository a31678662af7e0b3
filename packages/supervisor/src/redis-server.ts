/** Redis servers of this machine: whether the command can be used, and whether a server answers. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { succeeds } from '@quorumscan/base'
import { withRedis } from '@quorumscan/redis'
import { CommandError } from '@quorumscan/runtime'

/** The first version whose append-only file has a base and increments, and whose ACL has `%R~`. */
const VERSION_MIN = 7
const TIMEOUT_MS = 10_000

/** @throws {CommandError} If the command is not a redis-server, or an older version. */
export async function assertRedisUsable(command: string): Promise<void> {
  const asked = promisify(execFile)(command, ['--version'], { timeout: TIMEOUT_MS })
  const { stdout } = await asked.catch((cause: unknown) => {
    const message = `${command} cannot be run; install Redis ${VERSION_MIN} or newer, or set REDIS_SERVER`
    throw new CommandError(message, { cause })
  })
  const version = /\bv=([0-9]+)([0-9.]*)/.exec(stdout)
  if (version !== null && Number(version[1]) >= VERSION_MIN) return
  const found = version === null ? 'no redis-server' : `Redis ${version[1]}${version[2]}`
  throw new CommandError(
    `${command} is ${found}; Redis ${VERSION_MIN} or newer is needed: install it, or set REDIS_SERVER`,
  )
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

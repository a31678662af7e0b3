/** The redis.conf of each Redis of a cluster. All listen on a unix socket only. */
import { createHash } from 'node:crypto'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'

/** Of a user of the log's Redis: what it may do, in Redis' own words. */
export type RedisUser = {
  readonly name: string
  readonly password: string
  /** ACL rules, e.g. `~log +xrange`. */
  readonly rules: string
}

type RedisConfigInput = {
  readonly socketPath: string
  readonly directory: string
  /**
   * `always`: an acknowledged write is on disk (the log, the validator's users). `everysec`: the last
   * second may be lost, because everything in it follows from the log (Rule 3).
   */
  readonly fsync: 'always' | 'everysec'
  /** Not null: no other user may connect. */
  readonly user: RedisUser | null
}

/** The text of the configuration file. Holds password digests: mode 0600. */
export function redisConfig(input: RedisConfigInput): string {
  const lines = [
    'port 0',
    `unixsocket ${quote(input.socketPath)}`,
    'unixsocketperm 700',
    `dir ${quote(input.directory)}`,
    'daemonize no',
    // A title would be written over the environment, by which leftovers are found.
    'set-proc-title no',
    'save ""',
    'appendonly yes',
    `appendfsync ${input.fsync}`,
    'no-appendfsync-on-rewrite no',
    // BullMQ and the replica lose data under any other policy.
    'maxmemory-policy noeviction',
    // The log has none of this: it is a stream.
    ...Object.entries(REPLICA_REDIS_OPTIONS).map(([name, value]) => `${name} ${value}`),
  ]
  const { user } = input
  if (user !== null)
    lines.push(
      // Once half of what was written is trimmed; as commands, so that a damaged entry can be read past.
      'auto-aof-rewrite-percentage 100',
      'auto-aof-rewrite-min-size 256mb',
      'aof-use-rdb-preamble no',
      'user default off',
      `user ${user.name} on #${createHash('sha256').update(user.password).digest('hex')} ${user.rules}`,
    )
  return `${lines.join('\n')}\n`
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

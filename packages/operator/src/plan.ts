/** How a service is started, given where it runs. Pure. */
import { join } from 'node:path'
import { type RedisService, redisIdOf, redisSocketOf, type Service } from '@quorumscan/supervisor'
import type { DataDirectory } from './data-directory.ts'
import { type RedisUser, redisConfig } from './redis-config.ts'

/** Where processes run, and of what they are made. */
export type Machine = {
  readonly directory: DataDirectory
  /** A short directory for unix sockets: their paths end at 107 bytes. */
  readonly socketDirectory: string
  readonly redisServer: string
  /** The compiled entry file of each app. */
  readonly mains: Readonly<Record<Service['kind'], string>>
  /** The CometBFT program; null where one synchronizer orders. */
  readonly engineProgram: string | null
  /** What every process inherits, e.g. PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where a process writes what it says, by its id; null: where its supervisor does. */
  readonly logFileOf: (id: string) => string | null
}

/** A Redis that an app has, on a unix socket. */
export function planRedis(
  machine: Omit<Machine, 'mains' | 'engineProgram'>,
  options: {
    readonly name: string
    readonly fsync: 'always' | 'everysec'
    readonly user: RedisUser | null
  },
): RedisService {
  const { name, fsync, user } = options
  const redisDirectory = machine.directory.redisDirectory(name)
  const file = join(redisDirectory, 'redis.conf')
  const socketPath = redisSocketOf(machine.socketDirectory, name)
  return {
    name,
    redis: {
      id: redisIdOf(name),
      command: machine.redisServer,
      args: [file],
      env: machine.env,
      logFile: machine.logFileOf(redisIdOf(name)),
    },
    redisAddress: {
      path: socketPath,
      ...(user === null ? {} : { username: user.name, password: user.password }),
    },
    redisDirectory,
    redisConfig: {
      file,
      text: redisConfig({ socketPath, directory: redisDirectory, fsync, user }),
    },
  }
}

/** An app with its Redis; `env` is all that it is told. */
export function planService(
  machine: Machine,
  options: {
    readonly name: string
    readonly kind: Service['kind']
    readonly redis: RedisService
    /** What commands call it, unless that is its name. */
    readonly node?: string
    readonly url: string
    readonly ports: readonly number[]
    readonly engineDirectory?: string | null
    readonly env: Readonly<Record<string, string | undefined>>
  },
): Service {
  const { name, kind, node = name, url, ports, engineDirectory = null, env } = options
  return {
    ...options.redis,
    ...{ name, kind, node, url, ports, engineDirectory },
    app: {
      id: name,
      command: process.execPath,
      args: ['--enable-source-maps', machine.mains[kind]],
      env: { ...machine.env, ...env },
      logFile: machine.logFileOf(name),
    },
    faultSocket: `${faultSocketsOf(machine, name)}.faults`,
  }
}

/** Where the processes of a service take faults, in a cluster. */
export function faultSocketsOf(
  { socketDirectory }: Pick<Machine, 'socketDirectory'>,
  name: string,
) {
  return redisSocketOf(socketDirectory, `f-${name}`)
}

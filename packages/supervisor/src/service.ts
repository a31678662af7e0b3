/** The services that a supervisor runs: an app with its Redis. */
import type { LocalRedis } from './redis-server.ts'
import type { ProcessSpec } from './supervisor.ts'

/** A Redis server, and how it is started. */
export type RedisService = {
  readonly name: string
  /** Whether the operator provides the Redis. The supervisor then starts none. */
  readonly isExternal?: boolean
  readonly redis: ProcessSpec
  readonly redisAddress: LocalRedis
  readonly redisDirectory: string
  /** The configuration file of `redis`, and its text. */
  readonly redisConfig: { readonly file: string; readonly text: string }
  /** Its limit, `maxmemory`. */
  readonly redisMemoryBytes: number
}

/** An app with the Redis that stores its data: its own, or its operator's. */
export type Service = RedisService & {
  readonly kind: 'scan' | 'validator' | 'synchronizer'
  /** The name of the node, validator or synchronizer that it is a part of: commands use this name. */
  readonly owner: string
  /** The directory of the engine that it owns; null: it has no engine. */
  readonly engineDirectory: string | null
  readonly url: string
  /** The TCP ports on which it listens. */
  readonly ports: readonly number[]
  readonly app: ProcessSpec
}

/** The address of a Redis as `QS_REDIS` takes it. */
export function urlOfSocket(path: string): string {
  return `unix://${path}`
}

/** The process id of the Redis that has the name of a service. */
export function redisIdOf(name: string): string {
  return `${name}.redis`
}

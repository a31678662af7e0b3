/** What a supervisor runs: an app with its Redis. */
import type { LocalRedis } from './probe.ts'
import type { ProcessSpec } from './supervisor.ts'

/** A Redis of a cluster, and what it is started with. */
export type RedisService = {
  readonly name: string
  /** The operator has one elsewhere: this one is never started. */
  readonly isElsewhere?: boolean
  readonly redis: ProcessSpec
  readonly redisAddress: LocalRedis
  readonly redisDirectory: string
  /** Where `redis` reads its configuration, and what stands there. */
  readonly redisConfig: { readonly file: string; readonly text: string }
}

/** An app with the Redis in which it keeps what it has: its own, or its operator's. */
export type Service = RedisService & {
  readonly kind: 'scan' | 'validator' | 'synchronizer'
  /** What commands call it: its own name, or that of the super-validator that it is a part of. */
  readonly node: string
  /** Of the engine that it owns; null: it has none. */
  readonly engineDirectory: string | null
  readonly url: string
  /** On which it listens. */
  readonly ports: readonly number[]
  readonly app: ProcessSpec
  /** The unix socket on which its process takes faults. */
  readonly faultSocket: string
}

/** As `QS_REDIS` has it. */
export function urlOfSocket(path: string): string {
  return `unix://${path}`
}

/** Of the Redis that is called after a service. */
export function redisIdOf(name: string): string {
  return `${name}.redis`
}

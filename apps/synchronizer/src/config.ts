/** What the process is told by its environment. Files are read in `context.ts`. */
import { type Env, readEnv } from '@quorumscan/base'

export type SynchronizerConfig = {
  readonly genesisFile: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly logLevel: string
  readonly logRedis: { readonly path: string; readonly passwordFile: string }
  /** Hex seed of the key that the genesis names for the synchronizer. */
  readonly keyFile: string
  /** Of the log's Redis, whose disk is watched; null where it is on another machine. */
  readonly logDirectory: string | null
  /** Below this nothing is written, in MiB. */
  readonly diskFreeMibMin: number
  /** Requests a second for each client address (D-33). */
  readonly rateLimit: number
  /** Entries a second for each participant key. */
  readonly keyRateLimit: number
  /** Where traces are sent (OTLP over HTTP); absent or null for nowhere. */
  readonly tracesEndpoint?: string | null
}

/** A client is a participant that submits for all its users: ten times what D-33 gives one of those. */
const RATE_LIMIT_DEFAULT = 2000
/** Enough for the users of a large validator, and no participant can crowd out the others. */
const KEY_RATE_LIMIT_DEFAULT = 500
const RATE_LIMIT_MAX = 10_000_000
/** Checkpoints for years, and what the Redis of a small cluster need to rewrite their files. */
const DISK_FREE_MIB_MIN_DEFAULT = 256
const DISK_FREE_MIB_MIN_MAX = 1_048_576

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env): SynchronizerConfig {
  return readEnv(env, (variables) => ({
    genesisFile: variables.text('QS_GENESIS'),
    host: variables.text('QS_HOST', '127.0.0.1'),
    port: variables.integer('QS_PORT', { min: 0, max: 65_535 }),
    logLevel: variables.text('QS_LOG_LEVEL', 'info'),
    tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
    logRedis: {
      path: variables.text('QS_LOG_REDIS'),
      passwordFile: variables.text('QS_LOG_REDIS_PASSWORD_FILE'),
    },
    logDirectory: variables.optional('QS_LOG_DIRECTORY'),
    diskFreeMibMin: variables.integer('QS_DISK_FREE_MIB_MIN', {
      min: 0,
      max: DISK_FREE_MIB_MIN_MAX,
      fallback: DISK_FREE_MIB_MIN_DEFAULT,
    }),
    keyFile: variables.text('QS_KEY_FILE'),
    rateLimit: variables.integer('QS_RATE_LIMIT', {
      min: 1,
      max: RATE_LIMIT_MAX,
      fallback: RATE_LIMIT_DEFAULT,
    }),
    keyRateLimit: variables.integer('QS_KEY_RATE_LIMIT', {
      min: 1,
      max: RATE_LIMIT_MAX,
      fallback: KEY_RATE_LIMIT_DEFAULT,
    }),
  }))
}

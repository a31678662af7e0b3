/** What every process of a network is told by its environment. */
import type { EnvReader } from '@quorumscan/base'
import { parsePeers } from './peer-clocks.ts'

const RATE_LIMIT_MAX = 10_000_000

export type AppConfig = ReturnType<typeof readAppConfig>

export function readAppConfig(
  variables: EnvReader,
  defaults: {
    /** D-33. */
    readonly rateLimit: number
  },
) {
  return {
    genesisFile: variables.text('QS_GENESIS'),
    host: variables.text('QS_HOST', '127.0.0.1'),
    /** 0 takes a free one. */
    port: variables.integer('QS_PORT', { min: 0, max: 65_535 }),
    logLevel: variables.text('QS_LOG_LEVEL', 'info'),
    /** Where traces are sent (OTLP over HTTP); null for nowhere. */
    tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
    logRedis: {
      path: variables.text('QS_LOG_REDIS'),
      passwordFile: variables.text('QS_LOG_REDIS_PASSWORD_FILE'),
    },
    /** Nodes with whose clocks the own one is compared. */
    nodes: variables.parsed('QS_NODES', parsePeers),
    /** Units a second for each client address. */
    rateLimit: variables.integer('QS_RATE_LIMIT', {
      min: 1,
      max: RATE_LIMIT_MAX,
      fallback: defaults.rateLimit,
    }),
  }
}

/** What a process that follows the log and submits is told beyond. */
export function readFollowerConfig(variables: EnvReader) {
  return {
    ...readAppConfig(variables, { rateLimit: FOLLOWER_RATE_LIMIT }),
    /** Unix socket of the process's own Redis: replica, queues, and what else it keeps. */
    redisPath: variables.text('QS_REDIS'),
    synchronizerUrl: variables.text('QS_SYNCHRONIZER_URL'),
    /** The token that makes this process a peer of the synchronizer; null: it has a stranger's share. */
    synchronizerTokenFile: variables.optional('QS_SYNCHRONIZER_TOKEN_FILE'),
  }
}

/** D-33. */
const FOLLOWER_RATE_LIMIT = 200

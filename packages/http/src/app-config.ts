/** What every process of a network is told by its environment. */
import { readFile } from 'node:fs/promises'
import { type EnvReader, readSecret } from '@quorumscan/base'
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
    /** The synchronizer, from which the log comes and to which entries go. */
    log: {
      url: readUrl(variables, 'QS_LOG'),
      /** The token that makes this process a peer of the synchronizer. */
      tokenFile: variables.text('QS_LOG_TOKEN_FILE'),
      /** PEM certificates that an https URL is checked against; null: those that the machine trusts. */
      caFile: variables.optional('QS_LOG_CA'),
    },
  }
}

/** The configured synchronizer, for `createLogClient`. @throws If a file is not there. */
export async function readLogClientOptions(log: ReturnType<typeof readFollowerConfig>['log']) {
  return {
    url: log.url,
    token: await readSecret(log.tokenFile),
    ca: log.caFile === null ? null : await readFile(log.caFile, 'utf8'),
  }
}

function readUrl(variables: EnvReader, name: string): string {
  const text = variables.text(name)
  if (text !== '' && !(/^https?:\/\/[!-~]+$/.test(text) && URL.canParse(text)))
    variables.problem(`${name} is no http URL: ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

/** D-33. */
const FOLLOWER_RATE_LIMIT = 200

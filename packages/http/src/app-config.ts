/** What every process of a network is told by its environment. */
import { readFile } from 'node:fs/promises'
import { type EnvReader, readSecret } from '@quorumscan/base'
import { parsePeers } from './peer-clocks.ts'

const RATE_LIMIT_MAX = 10_000_000

export const GENESIS_VARIABLE = {
  about: 'the file of the genesis document',
  example: '/etc/quorumscan/genesis.json',
}

export const REDIS_VARIABLE = {
  about: 'the unix socket of its own Redis: replica, queues, and what else it keeps',
  example: '/run/quorumscan/redis',
}

export type AppConfig = ReturnType<typeof readAppConfig>

export function readAppConfig(
  variables: EnvReader,
  defaults: {
    /** D-33. */
    readonly rateLimit: number
  },
) {
  return {
    genesisFile: variables.text('QS_GENESIS', GENESIS_VARIABLE),
    host: variables.text('QS_HOST', {
      about: 'the address it listens on',
      example: '0.0.0.0',
      fallback: '127.0.0.1',
    }),
    port: variables.integer('QS_PORT', {
      about: 'the port it listens on; 0 takes a free one',
      example: '4611',
      min: 0,
      max: 65_535,
    }),
    logLevel: variables.text('QS_LOG_LEVEL', {
      about: 'the least that is logged: trace, debug, info, warn, error, fatal or silent',
      example: 'warn',
      fallback: 'info',
    }),
    tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT', {
      about: 'where traces are sent, by OTLP over HTTP; without it nowhere',
      example: 'http://127.0.0.1:4318',
    }),
    nodes: variables.parsed('QS_NODES', {
      about: 'scan nodes of the network, with whose clocks the own one is compared',
      example: 'sv-1=https://sv-1.example,sv-2=https://sv-2.example',
      parse: parsePeers,
    }),
    rateLimit: variables.integer('QS_RATE_LIMIT', {
      about: 'units of work a second for each client address',
      example: '1000',
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
    redisPath: variables.text('QS_REDIS', REDIS_VARIABLE),
    /** The synchronizer, from which the log comes and to which entries go. */
    log: {
      url: readUrl(variables, 'QS_LOG', {
        about: 'the synchronizer, from which the log comes and to which entries go',
        example: 'https://synchronizer.example',
      }),
      tokenFile: variables.text('QS_LOG_TOKEN_FILE', {
        about: 'the file of the token that makes it a peer of the synchronizer',
        example: '/etc/quorumscan/log-token',
      }),
      caFile: variables.optional('QS_LOG_CA', {
        about:
          'certificates (PEM) that vouch for an https synchronizer, unless the machine trusts it',
        example: '/etc/quorumscan/ca.pem',
      }),
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

function readUrl(
  variables: EnvReader,
  name: string,
  meaning: Parameters<EnvReader['text']>[1],
): string {
  const text = variables.text(name, meaning)
  if (text !== '' && !(/^https?:\/\/[!-~]+$/.test(text) && URL.canParse(text)))
    variables.problem(`${name} is no http URL: ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

/** D-33. */
const FOLLOWER_RATE_LIMIT = 200

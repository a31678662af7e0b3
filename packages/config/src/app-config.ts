/** Reads the configuration that all processes of a network share from environment variables. */
import { type EnvReader, openClientTls, readOwnCertificate, readSecret } from '@quorumscan/base'
import { parsePeers, parseServiceUrl } from '@quorumscan/runtime'
import { readConnections, readEnum } from './connections-config.ts'

const RATE_LIMIT_MAX = 10_000_000

export const GENESIS_VARIABLE = {
  about: 'the file of the genesis document',
  example: '/etc/quorumscan/genesis.json',
}

export type AppConfig = ReturnType<typeof readAppConfig>

/** @param rateLimit - Units per second unless they are set (D-33). */
export function readAppConfig(variables: EnvReader, rateLimit: number) {
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
      range: [0, 65_535],
    }),
    connections: readConnections(variables),
    logLevel: readEnum<string>(variables, 'QS_LOG_LEVEL', LOG_LEVELS, {
      about: 'the lowest level that is logged: trace, debug, info, warn, error, fatal or silent',
      example: 'warn',
      fallback: 'info',
    }),
    tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT', {
      about: 'the collector of traces (OTLP over HTTP); without it, none are sent',
      example: 'http://127.0.0.1:4318',
    }),
    nodes: variables.parsed('QS_NODES', {
      about: 'scan nodes of the network; the process compares its clock with theirs',
      example: 'sv-1=https://sv-1.example,sv-2=https://sv-2.example',
      parse: parsePeers,
    }),
    rateLimit: variables.integer('QS_RATE_LIMIT', {
      about: 'units of work per second for each client address',
      example: '1000',
      range: [1, RATE_LIMIT_MAX],
      fallback: rateLimit,
    }),
  }
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** D-33. */
const FOLLOWER_RATE_LIMIT = 200

/** The additional configuration of a process that follows the log and submits. */
export function readFollowerConfig(variables: EnvReader) {
  return {
    ...readAppConfig(variables, FOLLOWER_RATE_LIMIT),
    /** The synchronizer, for reading the log and submitting entries. */
    log: readLog(variables),
  }
}

function readLog(variables: EnvReader) {
  const url = variables.text('QS_LOG', {
    about: 'the synchronizer, for reading the log and submitting entries',
    example: 'https://synchronizer.example',
    read: parseServiceUrl,
  })
  const tokenFile = variables.optional('QS_LOG_TOKEN_FILE', {
    about: 'the file of the token that makes it a peer of the synchronizer; or QS_LOG_CERT',
    example: '/etc/quorumscan/log-token',
    file: assertToken,
  })
  const certificate = readOwnCertificate(variables, 'QS_LOG', 'the synchronizer')
  if ((tokenFile === null) === (certificate === null))
    variables.problem('exactly one of QS_LOG_TOKEN_FILE and QS_LOG_CERT must be set')
  if (certificate !== null && url.startsWith('http:'))
    variables.problem('QS_LOG_CERT needs https in QS_LOG')
  return { url, tokenFile, certificate }
}

/** @throws {Error} If the text is not a token. The message does not contain the text. */
function assertToken(text: string): void {
  if (!/^[!-~]+$/.test(text.trim()))
    throw new Error('the file must hold a token: one line without blanks')
}

/** The configured synchronizer, for `createLogClient`. @throws {Error} If a file is not there. */
export async function readLogClientOptions({
  log,
  connections,
}: Pick<ReturnType<typeof readFollowerConfig>, 'log' | 'connections'>) {
  return {
    url: log.url,
    token: log.tokenFile === null ? null : await readSecret(log.tokenFile),
    trust: openClientTls({ ca: connections.peerCa, own: log.certificate }),
  }
}

/** What every process of a network is told by its environment. */
import {
  type EnvReader,
  type Meaning,
  openClientTls,
  readOwnCertificate,
  readSecret,
} from '@quorumscan/base'
import { parsePeers, parseServiceUrl } from '@quorumscan/runtime'
import { readConnections } from './connections-config.ts'

const RATE_LIMIT_MAX = 10_000_000

export const GENESIS_VARIABLE = {
  about: 'the file of the genesis document',
  example: '/etc/quorumscan/genesis.json',
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
    connections: readConnections(variables),
    logLevel: readLogLevel(variables),
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

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function readLogLevel(variables: EnvReader): string {
  const level = variables.text('QS_LOG_LEVEL', {
    about: 'the least that is logged: trace, debug, info, warn, error, fatal or silent',
    example: 'warn',
    fallback: 'info',
  })
  if (!LOG_LEVELS.includes(level))
    variables.problem(
      `QS_LOG_LEVEL is ${JSON.stringify(level)}, and not one of ${LOG_LEVELS.join(', ')}`,
    )
  return level
}

/** What a process that follows the log and submits is told beyond. */
export function readFollowerConfig(variables: EnvReader) {
  return {
    ...readAppConfig(variables, { rateLimit: FOLLOWER_RATE_LIMIT }),
    /** The synchronizer, from which the log comes and to which entries go. */
    log: readLog(variables),
  }
}

function readLog(variables: EnvReader) {
  const url = readUrl(variables, 'QS_LOG', {
    about: 'the synchronizer, from which the log comes and to which entries go',
    example: 'https://synchronizer.example',
  })
  const tokenFile = variables.optional('QS_LOG_TOKEN_FILE', {
    about: 'the file of the token that makes it a peer of the synchronizer; or QS_LOG_CERT',
    example: '/etc/quorumscan/log-token',
    file: demandToken,
  })
  const certificate = readOwnCertificate(variables, 'QS_LOG', 'the synchronizer')
  if ((tokenFile === null) === (certificate === null))
    variables.problem('exactly one of QS_LOG_TOKEN_FILE and QS_LOG_CERT must be set')
  if (certificate !== null && url.startsWith('http:'))
    variables.problem('QS_LOG_CERT: a certificate is shown over https, and QS_LOG is http')
  return { url, tokenFile, certificate }
}

/** @throws {Error} If it holds no token. It does not show the text. */
function demandToken(text: string): void {
  if (!/^[!-~]+$/.test(text.trim())) throw new Error('it holds no token: one line without blanks')
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

/** The address of another process, without a trailing slash. */
export function readUrl(
  variables: EnvReader,
  name: string,
  meaning: Parameters<EnvReader['text']>[1],
): string {
  return checkedUrl(variables, name, variables.text(name, meaning))
}

/** As `readUrl`; null where there is none. */
export function readOptionalUrl(
  variables: EnvReader,
  name: string,
  meaning: Meaning,
): string | null {
  const text = variables.optional(name, meaning)
  return text === null ? null : checkedUrl(variables, name, text)
}

/** As `readUrl`, one or more of them. */
export function readUrls(variables: EnvReader, name: string, meaning: Meaning): readonly string[] {
  const texts = variables.text(name, meaning).split(',')
  return texts.filter(Boolean).map((text) => checkedUrl(variables, name, text))
}

function checkedUrl(variables: EnvReader, name: string, text: string): string {
  try {
    // What is missing was told.
    return text === '' ? '' : parseServiceUrl(text)
  } catch (error) {
    variables.problem(`${name}: ${(error as Error).message}`)
    return text
  }
}

/** D-33. */
const FOLLOWER_RATE_LIMIT = 200

/** Reads the configuration that all processes of a network share from environment variables. */
import { isIP } from 'node:net'
import { parseEnv } from 'node:util'
import { type EnvReader, openClientTls, readEnv, readOwnCertificate } from '@quorumscan/base'
import { openLiveFile, parseOriginTokens, parsePeers, parseServiceUrl } from '@quorumscan/runtime'
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
      read: assertHost,
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
      read: assertCollector,
    }),
    nodes: readNodes(variables),
    /** Null: what the variables say does not change. */
    peersFile: variables.optional('QS_PEERS_FILE', {
      about:
        'a file with the newest values of `QS_NODES`, `QS_ENGINE_PEERS` and `QS_ENGINE_FOLLOWERS`, one per line; `run` writes it, and the process reads it again every 2 s',
      example: '/var/lib/quorumscan/peers.env',
      file: parsePeersFile,
    }),
    rateLimit: variables.integer('QS_RATE_LIMIT', {
      about: 'units of work per second for each client address',
      example: '1000',
      range: [1, RATE_LIMIT_MAX],
      fallback: rateLimit,
    }),
  }
}

/** @throws {Error} If it cannot be an address or a name of this machine. Whether it is one shows when it listens. */
function assertHost(text: string): string {
  const isName = /^[a-z0-9._-]+$/i.test(text) && URL.canParse(`http://${text}`)
  if (isName || isIP(text) !== 0) return text
  throw new Error(`${JSON.stringify(text)} is not an address of this machine, such as 0.0.0.0`)
}

/** A collector in the operator's own network may have no TLS. @throws {Error} If it is not an address. */
function assertCollector(text: string): string {
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text
  throw new Error(
    `${JSON.stringify(text)} is not the address of a collector, such as http://127.0.0.1:4318`,
  )
}

function readNodes(variables: EnvReader) {
  return variables.parsed('QS_NODES', {
    about: 'scan nodes of the network; the process compares its clock with theirs',
    example: 'sv-1=https://sv-1.example,sv-2=https://sv-2.example',
    parse: parsePeers,
  })
}

/** The engines with which that of this process connects. */
export function readEnginePeers(variables: EnvReader) {
  return {
    /** `id@host:port` of the engines that it dials. */
    peers: variables.parsed('QS_ENGINE_PEERS', {
      about: "id@host:port of the other members' engines",
      example: `${'ab'.repeat(20)}@sv-2.example:26656`,
      parse: (text) => parseList(text, /^[0-9a-f]{40}@[!-~]+:[0-9]{1,5}$/, 'id@host:port'),
    }),
    /** Ids of the engines that it admits beyond those of the genesis. */
    followers: variables.parsed('QS_ENGINE_FOLLOWERS', {
      about: 'ids of engines without a vote that may connect',
      example: 'ab'.repeat(20),
      parse: (text) => parseList(text, /^[0-9a-f]{40}$/, 'the id of an engine'),
    }),
  }
}

export type EnginePeers = ReturnType<typeof readEnginePeers>

function parseList(text: string, pattern: RegExp, what: string): readonly string[] {
  const items = text.split(',').filter((item) => item !== '')
  const wrong = items.find((item) => !pattern.test(item))
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not ${what}`)
  return items
}

/** Reads the file of `QS_PEERS_FILE`. @throws {EnvError} Which names the variables that are invalid. */
export function parsePeersFile(text: string) {
  return readEnv(parseEnv(text), (variables) => ({
    nodes: readNodes(variables),
    engines: readEnginePeers(variables),
  }))
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

/** The tokens with which it is a peer of scan nodes (D-33). */
export function readNodeTokens(variables: EnvReader) {
  return variables.optional('QS_NODE_TOKENS_FILE', {
    about:
      'a file of its tokens for scan nodes, one per line: origin and token; those of a synchronizer are the tokens with which nodes follow it',
    example: '/etc/quorumscan/node-tokens',
    file: parseOriginTokens,
  })
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
    file: parseToken,
  })
  const certificate = readOwnCertificate(variables, 'QS_LOG', 'the synchronizer')
  if ((tokenFile === null) === (certificate === null))
    variables.contradiction(
      ['QS_LOG_TOKEN_FILE', 'QS_LOG_CERT'],
      'exactly one of QS_LOG_TOKEN_FILE and QS_LOG_CERT must be set',
    )
  if (certificate !== null && url.startsWith('http:'))
    variables.contradiction(['QS_LOG_CERT', 'QS_LOG'], 'QS_LOG_CERT needs https in QS_LOG')
  return { url, tokenFile, certificate }
}

/** @throws {Error} If the text is not a token. The message does not contain the text. */
function parseToken(text: string): string {
  const token = text.trim()
  if (/^[!-~]+$/.test(token)) return token
  throw new Error('the file must hold a token: one line without blanks')
}

/** The tokens of the nodes that accept this process as a peer, by origin; none without a file. */
export function openNodeTokens(file: string | null, parts: LiveFileParts) {
  const tokens =
    file === null
      ? null
      : openLiveFile({ variable: 'QS_NODE_TOKENS_FILE', file }, parseOriginTokens, parts)
  return { get: (origin: string) => tokens?.().get(origin) }
}

type LiveFileParts = Parameters<typeof openLiveFile>[2]

/** The configured synchronizer, for `createLogClient`. @throws {EnvError} If a file is not there, or holds no token. */
export function readLogClientOptions(
  { log, connections }: Pick<ReturnType<typeof readFollowerConfig>, 'log' | 'connections'>,
  app: Pick<LiveFileParts, 'clock'> & Partial<LiveFileParts>,
) {
  // A command ends before its file changes.
  const { clock, logger = { warn() {} } } = app
  const { tokenFile: file } = log
  return {
    url: log.url,
    token:
      file === null
        ? null
        : openLiveFile({ variable: 'QS_LOG_TOKEN_FILE', file }, parseToken, { clock, logger }),
    trust: openClientTls({ ca: connections.peerCa, own: log.certificate }),
  }
}

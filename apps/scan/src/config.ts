/** What the process is told by its environment. Files are read in `context.ts`. */
import { type Env, readEnv } from '@quorumscan/base'
import { type Peer, parsePeers } from '@quorumscan/http'

export type ScanConfig = {
  readonly genesisFile: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly logLevel: string
  /** Unix socket of the node's own Redis: replica and job queues. */
  readonly redisPath: string
  readonly logRedis: { readonly path: string; readonly passwordFile: string }
  readonly synchronizerUrl: string
  /** The token that makes this process a peer of the synchronizer; null: it has a stranger's share. */
  readonly synchronizerTokenFile: string | null
  /** This node's name in the genesis. */
  readonly nodeName: string
  /** Hex seeds of the node's two keys: `scan` signs addresses and answers, `operator` submissions. */
  readonly scanKeyFile: string
  readonly operatorKeyFile: string
  /** The address that others reach this node at; null: the one it listens on. */
  readonly publicUrl: string | null
  /** Nodes with whose clocks the own one is compared; this one among them is left out. */
  readonly nodes?: readonly Peer[]
  /** Units a second for each client address (D-33). */
  readonly rateLimit: number
  /** Where traces are sent (OTLP over HTTP); absent or null for nowhere. */
  readonly tracesEndpoint?: string | null
  /** Tokens of callers who may ask for more (D-33), one a line; null: there are none. */
  readonly peerTokensFile: string | null
}

/** D-33. */
const RATE_LIMIT_DEFAULT = 200
const RATE_LIMIT_MAX = 10_000_000

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env): ScanConfig {
  return readEnv(env, (variables) => {
    const publicUrl = variables.optional('QS_PUBLIC_URL')
    if (publicUrl !== null && !(/^https?:\/\/[!-~]+$/.test(publicUrl) && URL.canParse(publicUrl)))
      variables.problem(`QS_PUBLIC_URL is no http URL: ${JSON.stringify(publicUrl)}`)
    return {
      genesisFile: variables.text('QS_GENESIS'),
      host: variables.text('QS_HOST', '127.0.0.1'),
      port: variables.integer('QS_PORT', { min: 0, max: 65_535 }),
      logLevel: variables.text('QS_LOG_LEVEL', 'info'),
      tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
      redisPath: variables.text('QS_REDIS'),
      logRedis: {
        path: variables.text('QS_LOG_REDIS'),
        passwordFile: variables.text('QS_LOG_REDIS_PASSWORD_FILE'),
      },
      synchronizerUrl: variables.text('QS_SYNCHRONIZER_URL'),
      synchronizerTokenFile: variables.optional('QS_SYNCHRONIZER_TOKEN_FILE'),
      nodes: variables.parsed('QS_NODES', parsePeers),
      nodeName: variables.text('QS_NODE_NAME'),
      scanKeyFile: variables.text('QS_SCAN_KEY_FILE'),
      operatorKeyFile: variables.text('QS_OPERATOR_KEY_FILE'),
      publicUrl: publicUrl === null ? null : publicUrl.replace(/\/+$/, ''),
      rateLimit: variables.integer('QS_RATE_LIMIT', {
        min: 1,
        max: RATE_LIMIT_MAX,
        fallback: RATE_LIMIT_DEFAULT,
      }),
      peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE'),
    }
  })
}

/** What the process is told by its environment. Files are read in `context.ts`. */
import { DEFAULT_AUDIENCE } from '@quorumscan/auth'
import { type Env, readEnv } from '@quorumscan/base'
import { type Peer, parsePeers } from '@quorumscan/http'

const JWKS_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const

/** Where tokens come from: exactly one way per configuration (D-32). */
type TokenConfig =
  | { readonly kind: 'shared-secret'; readonly secretFile: string }
  | {
      readonly kind: 'jwks'
      readonly url: string
      readonly algorithm: (typeof JWKS_ALGORITHMS)[number]
    }

export type ValidatorConfig = {
  readonly genesisFile: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly logLevel: string
  /** Unix socket of the validator's own Redis: replica, users, queues. */
  readonly redisPath: string
  readonly logRedis: { readonly path: string; readonly passwordFile: string }
  readonly synchronizerUrl: string
  /** The token that makes this process a peer of the synchronizer; null: it has a stranger's share. */
  readonly synchronizerTokenFile: string | null
  /** Nodes with whose clocks the own one is compared. */
  readonly nodes?: readonly Peer[]
  /** Hex seed of the key that signs submissions and hosts this validator's parties. */
  readonly participantKeyFile: string
  /** Scan nodes where the addresses of all are learned (D-34). */
  readonly seeds: readonly string[]
  readonly tokens: TokenConfig
  readonly audience: string
  /** Longest lifetime of a token in seconds; null: any (D-32). */
  readonly tokenLifetimeSecondsMax: number | null
  /** Units a second for each client address (D-33). */
  readonly rateLimit: number
  /** Tokens of this validator with scan nodes (D-33), `<origin> <token>` a line; null: there are none. */
  readonly nodeTokensFile: string | null
  /** Whether scan nodes may be at loopback and private addresses: the local cluster. */
  readonly allowPrivateAddresses: boolean
  /** Whether to begin anew where the users, which no log holds, are lost. */
  readonly isLossAccepted: boolean
  /** Where traces are sent (OTLP over HTTP); absent or null for nowhere. */
  readonly tracesEndpoint?: string | null
}

const HOST_DEFAULT = '127.0.0.1'
/** Where a shared secret, with which anyone can make tokens who can check them, is good enough (D-32). */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/
/** D-33. */
const RATE_LIMIT_DEFAULT = 200
const RATE_LIMIT_MAX = 10_000_000
const TOKEN_LIFETIME_SECONDS_MAX = 10 * 365 * 86_400

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env): ValidatorConfig {
  return readEnv(env, (variables) => {
    const seeds = variables.text('QS_SEEDS').split(',').filter(Boolean)
    for (const seed of seeds)
      if (!isHttpUrl(seed)) variables.problem(`QS_SEEDS holds ${JSON.stringify(seed)}, no http URL`)
    const secretFile = variables.optional('QS_JWT_SECRET_FILE')
    const jwksUrl = variables.optional('QS_JWKS_URL')
    if ((secretFile === null) === (jwksUrl === null))
      variables.problem('exactly one of QS_JWT_SECRET_FILE and QS_JWKS_URL must be set')
    if (jwksUrl !== null && !isHttpUrl(jwksUrl))
      variables.problem(`QS_JWKS_URL is ${JSON.stringify(jwksUrl)}, no http URL`)
    const host = variables.text('QS_HOST', HOST_DEFAULT)
    if (secretFile !== null && !LOOPBACK.test(host))
      variables.problem(
        `QS_JWT_SECRET_FILE is for development on a loopback address, QS_HOST is ${JSON.stringify(host)}`,
      )
    const algorithm = variables.text('QS_JWKS_ALGORITHM', 'RS256')
    const knownAlgorithm = JWKS_ALGORITHMS.find((known) => known === algorithm)
    if (knownAlgorithm === undefined)
      variables.problem(`QS_JWKS_ALGORITHM is none of ${JWKS_ALGORITHMS.join(', ')}`)
    const lifetime = variables.integer('QS_TOKEN_LIFETIME_SECONDS_MAX', {
      min: 0,
      max: TOKEN_LIFETIME_SECONDS_MAX,
      fallback: 0,
    })
    return {
      nodes: variables.parsed('QS_NODES', parsePeers),
      genesisFile: variables.text('QS_GENESIS'),
      host,
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
      participantKeyFile: variables.text('QS_PARTICIPANT_KEY_FILE'),
      seeds,
      tokens:
        jwksUrl === null
          ? { kind: 'shared-secret', secretFile: secretFile ?? '' }
          : { kind: 'jwks', url: jwksUrl, algorithm: knownAlgorithm ?? 'RS256' },
      audience: variables.text('QS_AUDIENCE', DEFAULT_AUDIENCE),
      tokenLifetimeSecondsMax: lifetime === 0 ? null : lifetime,
      rateLimit: variables.integer('QS_RATE_LIMIT', {
        min: 1,
        max: RATE_LIMIT_MAX,
        fallback: RATE_LIMIT_DEFAULT,
      }),
      nodeTokensFile: variables.optional('QS_NODE_TOKENS_FILE'),
      isLossAccepted: variables.optional('QS_ACCEPT_LOST_USERS') === '1',
      allowPrivateAddresses: variables.optional('QS_ALLOW_PRIVATE_ADDRESSES') === '1',
    }
  })
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]+/.test(text) && URL.canParse(text)
}

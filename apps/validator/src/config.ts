/** What the process is told by its environment. Files are read in `context.ts`. */
import { DEFAULT_AUDIENCE } from '@quorumscan/auth'
import { type Env, readEnv } from '@quorumscan/base'
import { readFollowerConfig } from '@quorumscan/http'

const JWKS_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const

export type ValidatorConfig = ReturnType<typeof envToConfig>

/** Where a shared secret, with which anyone can make tokens who can check them, is good enough (D-32). */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/
const TOKEN_LIFETIME_SECONDS_MAX = 10 * 365 * 86_400

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env) {
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
    const common = readFollowerConfig(variables)
    if (secretFile !== null && !LOOPBACK.test(common.host))
      variables.problem(
        `QS_JWT_SECRET_FILE is for development on a loopback address, QS_HOST is ${JSON.stringify(common.host)}`,
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
      ...common,
      /** Hex seed of the key that signs submissions and hosts this validator's parties. */
      participantKeyFile: variables.text('QS_PARTICIPANT_KEY_FILE'),
      /** Scan nodes where the addresses of all are learned (D-34). */
      seeds,
      /** Where tokens come from: exactly one way per configuration (D-32). */
      tokens:
        jwksUrl === null
          ? ({ kind: 'shared-secret', secretFile: secretFile ?? '' } as const)
          : ({ kind: 'jwks', url: jwksUrl, algorithm: knownAlgorithm ?? 'RS256' } as const),
      audience: variables.text('QS_AUDIENCE', DEFAULT_AUDIENCE),
      /** Longest lifetime of a token in seconds; null: any (D-32). */
      tokenLifetimeSecondsMax: lifetime === 0 ? null : lifetime,
      /** Tokens of this validator with scan nodes (D-33), `<origin> <token>` a line; null: there are none. */
      nodeTokensFile: variables.optional('QS_NODE_TOKENS_FILE'),
      /** Whether to begin anew where the users, which no log holds, are lost. */
      isLossAccepted: variables.optional('QS_ACCEPT_LOST_USERS') === '1',
      /** Whether scan nodes may be at loopback and private addresses: the local cluster. */
      allowPrivateAddresses: variables.optional('QS_ALLOW_PRIVATE_ADDRESSES') === '1',
    }
  })
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]+/.test(text) && URL.canParse(text)
}

/** Reads the configuration of a validator from environment variables. `context.ts` reads the files. */

import {
  type Env,
  type EnvReader,
  fromHex,
  type NoteVariable,
  parseKeyFile,
  readEnv,
} from '@quorumscan/base'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import { readOwnRedis } from '@quorumscan/redis'
import { parseServiceUrl } from '@quorumscan/runtime'
import { NETWORK_NAMES, trustRule } from '@quorumscan/verifier'
import { readFollowerConfig, readNodeTokens } from './app-config.ts'
import { readEnum } from './connections-config.ts'

const JWKS_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const

export type ValidatorConfig = ReturnType<typeof readValidatorConfig>

/** The hosts that may use a shared secret, with which every verifier can also create tokens (D-32). */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/
const TOKEN_LIFETIME_SECONDS_MAX = 10 * 365 * 86_400

/** @throws {EnvError} That names every missing or bad variable. */
export function readValidatorConfig(env: Env, note?: NoteVariable) {
  return readEnv(
    env,
    (variables) => {
      const secretFile = variables.optional('QS_JWT_SECRET_FILE', {
        about: 'for development: the file of a secret that signs tokens of users; or QS_JWKS_URL',
        example: '/var/lib/quorumscan/secrets/jwt',
        file: parseSharedSecret,
      })
      const jwksUrl = variables.optional('QS_JWKS_URL', {
        about: 'the address with the keys of the issuer of user tokens',
        example: 'https://issuer.example/.well-known/jwks.json',
        read: (text) => parseServiceUrl(text, { allowsQuery: true }),
      })
      if ((secretFile === null) === (jwksUrl === null))
        variables.contradiction(
          ['QS_JWKS_URL', 'QS_JWT_SECRET_FILE'],
          'exactly one of QS_JWT_SECRET_FILE and QS_JWKS_URL must be set',
        )
      const common = readFollowerConfig(variables)
      if (secretFile !== null && !LOOPBACK.test(common.host))
        variables.contradiction(
          ['QS_JWT_SECRET_FILE', 'QS_HOST'],
          `QS_JWT_SECRET_FILE is for development on a loopback address, QS_HOST is ${JSON.stringify(common.host)}`,
        )
      const algorithm = readEnum(variables, 'QS_JWKS_ALGORITHM', JWKS_ALGORITHMS, {
        about: `the algorithm of the keys at QS_JWKS_URL: ${JWKS_ALGORITHMS.join(', ')}`,
        example: 'EdDSA',
        fallback: 'RS256',
      })
      const lifetime = variables.integer('QS_TOKEN_LIFETIME_SECONDS_MAX', {
        about: 'the longest accepted lifetime of a token, in seconds; 0: any',
        example: '3600',
        range: [0, TOKEN_LIFETIME_SECONDS_MAX],
        fallback: 0,
      })
      return {
        ...common,
        redis: readOwnRedis(variables),
        participantKeyFile: variables.text('QS_PARTICIPANT_KEY_FILE', {
          about: 'the file of the key that signs submissions and hosts its parties (a seed in hex)',
          example: '/var/lib/quorumscan/keys/validator.participant',
          file: parseKeyFile,
        }),
        /** Scan nodes that report the addresses of all nodes (D-34). */
        seeds: variables
          .text('QS_SEEDS', {
            about: 'scan nodes that report the addresses of all nodes',
            example: 'https://sv-1.example,https://sv-2.example',
            read: (text) =>
              text
                .split(',')
                .filter(Boolean)
                .map((url) => parseServiceUrl(url))
                .join(),
          })
          .split(',')
          .filter(Boolean),
        /** The source of tokens: exactly one per configuration (D-32). */
        tokens:
          jwksUrl === null
            ? ({ kind: 'shared-secret', secretFile: secretFile ?? '' } as const)
            : ({ kind: 'jwks', url: jwksUrl, algorithm } as const),
        audience: variables.text('QS_AUDIENCE', {
          about: 'the audience that tokens must have',
          example: 'https://validator.example',
          fallback: DEFAULT_AUDIENCE,
        }),
        /** Null: all members count (D-75). */
        trustRule: readTrustRule(variables),
        /** The network in qualified names of parties (D-76). */
        networkName: readEnum(variables, 'QS_NETWORK_NAME', NETWORK_NAMES, {
          about: `the name of the network in qualified names of parties: ${NETWORK_NAMES.join(', ')}`,
          example: 'mainnet',
          fallback: 'localnet',
        }),
        /** Longest lifetime of a token in seconds; null: any (D-32). */
        tokenLifetimeSecondsMax: lifetime === 0 ? null : lifetime,
        /** D-33. */
        nodeTokensFile: readNodeTokens(variables),
        isLossAccepted: variables.flag('QS_ACCEPT_LOST_USERS', {
          about: '1: start without users if they are lost; they are not in the log',
          example: '1',
        }),
        allowPrivateAddresses: variables.flag('QS_ALLOW_PRIVATE_ADDRESSES', {
          about: '1: scan nodes may be at loopback and private addresses',
          example: '1',
        }),
      }
    },
    note,
  )
}

const SECRET_BYTES_MIN = 32

/** The content of the file of QS_JWT_SECRET_FILE. @throws {Error} If it is no hex, or too short. */
export function parseSharedSecret(text: string): Uint8Array {
  const secret = fromHex(text.trim())
  if (secret.length >= SECRET_BYTES_MIN) return secret
  throw new Error(`the file must hold ${SECRET_BYTES_MIN} bytes in hex or more`)
}

/** More than the members of any network. */
const TRUST_THRESHOLD_MAX = 1000

function readTrustRule(variables: EnvReader) {
  const threshold = variables.integer('QS_TRUST_THRESHOLD', {
    about:
      'how many of QS_TRUST_MEMBERS must confirm an answer; 0: a third of them, rounded down, plus one',
    example: '2',
    range: [0, TRUST_THRESHOLD_MAX],
    fallback: 0,
  })
  const [rule = null] = variables.parsed('QS_TRUST_MEMBERS', {
    about:
      'super-validators whose answers and signatures the scan proxy counts, and the only ones that it asks; without it, all',
    example: 'sv-1,sv-2,sv-3',
    parse: (text) =>
      text === ''
        ? []
        : [trustRule({ members: text.split(','), threshold: threshold || undefined })],
  })
  if (threshold > 0 && rule === null)
    variables.contradiction(
      ['QS_TRUST_THRESHOLD', 'QS_TRUST_MEMBERS'],
      'QS_TRUST_THRESHOLD needs valid QS_TRUST_MEMBERS',
    )
  return rule
}

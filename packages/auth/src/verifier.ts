/**
 * From a bearer token to a user id (D-32).
 *
 * The algorithm comes from the configuration alone, never from the token's header, so that no public
 * key is ever taken for a shared secret. `jose` checks the signature, `aud`, `exp` and `nbf`; the
 * rules of this file are those on the user id and on the lifetime.
 */
import { type Clock, fromUtf8, toHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { isUserId, type UserId } from '@quorumscan/model'
import { createFetchTransport } from '@quorumscan/reader'
import { parseStrictJson } from '@quorumscan/verifier'
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'

/** Shorter HS256 secrets can be guessed offline from one token (RFC 7518 §3.2). */
const SECRET_BYTES_MIN = 32
/** Tokens of a few hundred bytes are usual; a longer one is not worth verifying. */
const TOKEN_CHARACTERS_MAX = 8192

/** The keys of an issuer are some kB; a larger answer is not read. */
const JWKS_BYTES_MAX = 256 * 1024
/** The period at which the key set is fetched again, so that withdrawn keys become invalid. */
const REFRESH_MS = 10 * 60_000
/** The period after a failed fetch. */
const RETRY_MS = 30_000
/** How long old keys stay valid after failures: a day, in which an operator notices that an issuer is down. */
const STALE_KEYS_MS_MAX = 24 * 3_600_000

type Claims = {
  /** Must be, or be among, the token's `aud`. */
  readonly audience: string
  /** Longest `exp - iat` accepted; null: any. With a maximum, `exp` and `iat` must be present. */
  readonly lifetimeSecondsMax: number | null
}

export type VerifierConfig = Claims &
  (
    | {
        /** Development only: the secret that checks tokens also makes them. `exp` may be missing. */
        readonly kind: 'shared-secret'
        readonly secret: Uint8Array
      }
    | {
        readonly kind: 'jwks'
        readonly url: string
        readonly algorithm: 'RS256' | 'ES256' | 'EdDSA'
      }
  )

export type Verifier = ReturnType<typeof createVerifier>

export type VerifierDeps = {
  readonly clock: Clock
  /** Fetches the JWKS; the default is the global one. */
  readonly fetch?: typeof fetch
  /** Receives failures to fetch the JWKS in the background: at the start, and at renewals. */
  readonly onKeysUnavailable?: (reason: unknown) => void
}

/** @throws {RangeError} If a shared secret is shorter than SECRET_BYTES_MIN. */
export function createVerifier(config: VerifierConfig, deps: VerifierDeps) {
  const getKey = config.kind === 'jwks' ? remoteKeys(config.url, deps) : secretKey(config)
  const algorithm = config.kind === 'jwks' ? config.algorithm : 'HS256'
  const verifyToken = async (token: string) => {
    try {
      if (token.length > TOKEN_CHARACTERS_MAX) throw new errors.JWSInvalid('the token is too long')
      // Parsers that read a token differently would take it for two.
      const [header, claims] = token.split('.').map(bytesOfPart)
      for (const part of [header, claims]) parseStrictJson(fromUtf8(part ?? new Uint8Array()))
      const nowMs = deps.clock.nowMicros() / 1000
      const { payload } = await jwtVerify(token, getKey, {
        algorithms: [algorithm],
        audience: config.audience,
        requiredClaims: requiredClaims(config),
        // biome-ignore lint/style/noRestrictedGlobals: it is the time of the injected clock.
        currentDate: new Date(nowMs),
      })
      return checkClaims(payload, config, nowMs / 1000)
    } catch (error) {
      if (error instanceof ScanError) throw error
      if (error instanceof errors.JWTExpired) throw unauthenticated('expired', error)
      const isMalformed = [errors.JWSInvalid, errors.JWTInvalid, SyntaxError].some(
        (kind) => error instanceof kind,
      )
      throw unauthenticated(isMalformed ? 'malformed' : 'invalid', error)
    }
  }
  return {
    /**
     * The user of a valid token.
     *
     * @throws {ScanError} UNAUTHENTICATED for every fault of the token, with the kind of the fault (more is in the
     *   `cause`); DEPENDENCY_UNAVAILABLE if the key set cannot be fetched.
     */
    verify: async (token: string): Promise<UserId> => (await verifyToken(token)).userId,
    /** As `verify`, with the expiry of the token, for streams that outlive it. */
    verifyToken,
  }
}

/**
 * The token of an `Authorization` header.
 *
 * @throws {ScanError} UNAUTHENTICATED if it is missing or of another form than `Bearer <token>`.
 */
export function bearerToken(header: string | undefined): string {
  if (!header) throw unauthenticated('missing')
  const match = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*)$/i.exec(header)
  if (match?.[1] === undefined) throw unauthenticated('malformed')
  return match[1]
}

/** `expired` is reported of genuine tokens only: to others the content of a token stays unknown. */
const FAULTS = {
  missing: 'The request has no token',
  malformed: 'The token is not a JWT',
  expired: 'The token has expired',
  invalid: 'The token is not valid for this service',
}

function unauthenticated(reason: keyof typeof FAULTS, cause?: unknown): ScanError {
  const message = `${FAULTS[reason]}. Send a valid one: \`Authorization: Bearer <JWT>\`.`
  return new ScanError('UNAUTHENTICATED', message, { cause, details: { reason } })
}

/** A part of a token has one spelling (RFC 4648 §3.5). @throws {JWSInvalid} If it has another, or is not base64url. */
function bytesOfPart(part: string): Uint8Array {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') === part) return bytes
  throw new errors.JWSInvalid('a part of the token is not base64url in its one spelling')
}

function secretKey(config: { readonly secret: Uint8Array }): JWTVerifyGetKey {
  if (config.secret.byteLength < SECRET_BYTES_MIN)
    throw new RangeError(`a shared secret has at least ${SECRET_BYTES_MIN} bytes`)
  return () => config.secret
}

// Codes of jose if the key set was fetched but has no key for this token: the token is invalid.
const TOKEN_FAULTS: ReadonlySet<unknown> = new Set([
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
])

/** Keys of an issuer: fetched at once, and again periodically, while the old ones stay in use. */
function remoteKeys(url: string, deps: VerifierDeps): JWTVerifyGetKey {
  const { clock } = deps
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: STALE_KEYS_MS_MAX,
    [customFetch]: boundedFetch(deps.fetch),
  })
  let refreshAtMs = 0
  const refresh = () => {
    refreshAtMs = clock.monotonicMs() + RETRY_MS
    keys.reload().then(
      () => {
        refreshAtMs = clock.monotonicMs() + REFRESH_MS
      },
      (error: unknown) => deps.onKeysUnavailable?.(error),
    )
  }
  refresh()
  return async (header, token) => {
    if (clock.monotonicMs() >= refreshAtMs) refresh()
    const key = await keys(header, token).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && TOKEN_FAULTS.has(error.code)) throw error
      throw new ScanError(
        'DEPENDENCY_UNAVAILABLE',
        'The keys of the issuer cannot be fetched, or are no keys.',
        { cause: error },
      )
    })
    if (!hasSafeExponent(key)) throw new Error('the exponent of the RSA key is even or below 3')
    return key
  }
}

/** With the exponent 1 a signature is the padded hash itself: anyone can make it (RFC 8017 §3.1). jose checks only the size of a key. */
function hasSafeExponent({ algorithm }: CryptoKey): boolean {
  if (!('publicExponent' in algorithm)) return true
  const exponent = BigInt(`0x${toHex(algorithm.publicExponent as Uint8Array)}`)
  return exponent >= 3n && exponent % 2n === 1n
}

/** For jose, which reads answers of any size. */
function boundedFetch(fetchImplementation: typeof fetch | undefined): FetchImplementation {
  const transport = createFetchTransport({ fetch: fetchImplementation })
  return async (url, { headers, signal }) => {
    const { status, body } = await transport.request({
      url,
      path: '',
      method: 'GET',
      headers: Object.fromEntries(headers),
      body: null,
      bytesMax: JWKS_BYTES_MAX,
      channel: 'lookup',
      isPublicOnly: false, // The issuer is configured by the operator.
      signal,
    })
    return new Response(new Uint8Array(body), { status })
  }
}

function requiredClaims({ kind, lifetimeSecondsMax }: VerifierConfig): string[] {
  if (lifetimeSecondsMax !== null) return ['exp', 'iat']
  return kind === 'shared-secret' ? [] : ['exp']
}

/** What a token must have beyond RFC 7519. */
function checkClaims(
  { sub, exp, iat }: JWTPayload,
  { lifetimeSecondsMax }: VerifierConfig,
  nowSeconds: number,
) {
  if (!isUserId(sub)) throw new Error('sub is not a user id')
  if (exp === Number.POSITIVE_INFINITY) throw new Error('exp is not a number') // JSON's 1e400.
  if (lifetimeSecondsMax !== null) {
    const [expiresAt, issuedAt] = [exp as number, iat as number]
    if (expiresAt - issuedAt > lifetimeSecondsMax) throw new Error('the lifetime is too long')
    // An `iat` in the future would extend the accepted lifetime.
    if (issuedAt > nowSeconds + CLOCK_SKEW_SECONDS_MAX) throw new Error('iat is in the future')
  }
  return {
    userId: sub,
    /** µs since the epoch; null if the token does not expire. Beyond 2^53 (year 2255) it counts as unlimited. */
    expiresAt: exp === undefined ? null : Math.min(exp * 1_000_000, Number.MAX_SAFE_INTEGER),
  }
}

/** Clocks of issuers may be this far ahead of ours. */
const CLOCK_SKEW_SECONDS_MAX = 60

/**
 * From a bearer token to a user id (D-32).
 *
 * The algorithm comes from the configuration alone, never from the token's header, so that no public
 * key is ever taken for a shared secret. Claims are checked here against the injected clock, not in
 * jose, which reads the wall clock.
 */
import { type Clock, fromUtf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { isUserId, type UserId } from '@quorumscan/model'
import { createFetchTransport } from '@quorumscan/reader'
import {
  type CompactVerifyGetKey,
  compactVerify,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
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
      const verified = await compactVerify(token, getKey, { algorithms: [algorithm] })
      // RFC 7797 §7: a token with an unencoded payload is not a JWT.
      if (verified.protectedHeader.b64 === false) throw new Error('the payload is not encoded')
      const claims: unknown = JSON.parse(fromUtf8(verified.payload))
      return checkClaims(claims, config, deps.clock.nowMicros() / 1_000_000)
    } catch (error) {
      if (error instanceof ScanError) throw error
      const isMalformed = error instanceof errors.JWSInvalid || error instanceof SyntaxError
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

function secretKey(config: { readonly secret: Uint8Array }): CompactVerifyGetKey {
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
function remoteKeys(url: string, deps: VerifierDeps): CompactVerifyGetKey {
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
    try {
      return await keys(header, token)
    } catch (error) {
      if (error instanceof Error && 'code' in error && TOKEN_FAULTS.has(error.code)) throw error
      throw new ScanError('DEPENDENCY_UNAVAILABLE', 'The keys of the issuer cannot be fetched.', {
        cause: error,
      })
    }
  }
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

function checkClaims(claims: unknown, config: VerifierConfig, nowSeconds: number) {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw new Error('the claims are not an object')
  const { sub, aud, exp, nbf, iat } = claims as Record<string, unknown>
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (!audiences.includes(config.audience)) throw new Error('the token is for another audience')
  if (!isUserId(sub)) throw new Error('sub is not a user id')
  if (exp === undefined && config.kind !== 'shared-secret') throw new Error('exp is missing')
  const expiresAt = numericDate(exp, 'exp')
  if (expiresAt !== null && expiresAt <= nowSeconds) throw unauthenticated('expired')
  const startsAt = numericDate(nbf, 'nbf')
  if (startsAt !== null && startsAt > nowSeconds) throw new Error('the token is not valid yet')
  const issuedAt = numericDate(iat, 'iat')
  if (config.lifetimeSecondsMax !== null) {
    if (expiresAt === null || issuedAt === null) throw new Error('exp or iat is missing')
    if (expiresAt - issuedAt > config.lifetimeSecondsMax)
      throw new Error('the lifetime is too long')
    // An `iat` in the future would extend the accepted lifetime.
    if (issuedAt > nowSeconds + CLOCK_SKEW_SECONDS_MAX) throw new Error('iat is in the future')
  }
  return {
    userId: sub,
    /** µs since the epoch; null if the token does not expire. Beyond 2^53 (year 2255) it counts as unlimited. */
    expiresAt: expiresAt === null ? null : Math.min(expiresAt * 1_000_000, Number.MAX_SAFE_INTEGER),
  }
}

/** Clocks of issuers may be this far ahead of ours. */
const CLOCK_SKEW_SECONDS_MAX = 60

/** A NumericDate (RFC 7519 §2) in seconds, or null if the claim is missing. */
function numericDate(value: unknown, claim: string): number | null {
  if (value === undefined) return null
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Error(`${claim} is not a number`)
  return value
}

/** Tokens for people and tests of a local cluster (`quorumscan token`). */
import type { Clock } from '@quorumscan/base'
import type { UserId } from '@quorumscan/model'
import { SignJWT } from 'jose'

/** The user that may administer a fresh validator (D-32). */
export const FIRST_ADMIN_USER = 'participant_admin'

/** An HS256 token that a verifier with the same shared secret and audience accepts for `ttlSeconds`. */
export function createDevelopmentToken(input: {
  readonly secret: Uint8Array
  readonly user: UserId
  readonly ttlSeconds: number
  readonly audience: string
  readonly clock: Clock
}): Promise<string> {
  const issuedAt = Math.floor(input.clock.nowMicros() / 1_000_000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(input.user)
    .setAudience(input.audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + input.ttlSeconds)
    .sign(input.secret)
}

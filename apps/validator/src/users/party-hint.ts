/** The hint of a user's party, derived from the user id alone, so that registering twice finds it (D-20). */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import type { UserId } from '@quorumscan/model'

/** D-30. */
const HINT_LENGTH_MAX = 185

/**
 * Different users get different hints: what a hint cannot hold becomes `_` and two hex digits, `_` itself
 * becomes `__`. An id whose hint would be too long becomes `_h` and its SHA-256, which no other id gives.
 */
export function partyHintOf(userId: UserId): string {
  const hint = userId.replace(/[^A-Za-z0-9-]/g, (character) =>
    character === '_' ? '__' : `_${toHex(utf8(character))}`,
  )
  return hint.length <= HINT_LENGTH_MAX ? hint : `_h${toHex(sha256(utf8(userId)))}`
}

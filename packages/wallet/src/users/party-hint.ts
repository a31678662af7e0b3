/** The hint of a user's party, derived from the user id alone, so that registering twice finds it (D-20). */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import type { UserId } from '@quorumscan/model'

/** D-30. */
const HINT_LENGTH_MAX = 185

/**
 * Different users get different hints: what a hint cannot hold becomes `_` and two hex digits, `_` itself
 * becomes `__`. An id whose hint would be too long becomes `_h` and its SHA-256, which no other id gives. The hints of one user with different numbers differ.
 */
export function partyHintOf(userId: UserId, number = 1): string {
  // After `_` no user id gives an `n`.
  const suffix = number === 1 ? '' : `_n${number}`

  const hint = userId.replace(/[^A-Za-z0-9-]/g, (character) =>
    character === '_' ? '__' : `_${toHex(utf8(character))}`,
  )
  const isShort = hint.length + suffix.length <= HINT_LENGTH_MAX
  return (isShort ? hint : `_h${toHex(sha256(utf8(userId)))}`) + suffix
}

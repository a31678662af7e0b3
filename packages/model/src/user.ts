/** The validator's users and what they may do (D-32). Rights come from the user store, never from a token. */
import type { PartyId } from './party.ts'

/** The grammar of Daml's UserId, parentheses included. */
const USER_ID = /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]{1,128}$/

/** `aud` of a token unless configured (D-32). */
export const DEFAULT_AUDIENCE = 'https://quorumscan.example'

/** `sub` of a token. */
export type UserId = string

export function isUserId(value: unknown): value is UserId {
  return typeof value === 'string' && USER_ID.test(value)
}

/**
 * CanActAs implies reading. ParticipantAdmin administers users and parties, and reads or acts as no party.
 * CanExecuteAsAnyParty is stored and allows nothing: existing clients grant it, but this participant executes nothing for
 * other parties.
 */
export type Right =
  | { readonly kind: 'CanActAs'; readonly party: PartyId }
  | { readonly kind: 'CanReadAs'; readonly party: PartyId }
  | { readonly kind: 'CanReadAsAnyParty' }
  | { readonly kind: 'ParticipantAdmin' }
  | { readonly kind: 'CanExecuteAsAnyParty' }

export type User = {
  readonly id: UserId
  readonly primaryParty: PartyId | null
  readonly isDeactivated: boolean
  readonly metadata: { readonly [annotation: string]: string }
  /** '' is the default identity provider; there is no other one. */
  readonly identityProviderId: string
}

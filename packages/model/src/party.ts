import { fromHex, sha256Hex } from '@quorumscan/base'
import { PARTY } from '@quorumscan/verifier'

/** `<hint>::1220<64 hex>` (D-30). The part after `::` is the participant that hosts the party. */
export type PartyId = string

const HINT = /^[A-Za-z0-9_-]{1,185}$/

export function isPartyId(text: unknown): text is PartyId {
  return typeof text === 'string' && PARTY.test(text)
}

/** The participant's identifier: `1220` and the SHA-256 of its Ed25519 public key (64 hex digits). */
export function participantOfKey(publicKey: string): string {
  return `1220${sha256Hex(fromHex(publicKey))}`
}

/** @returns undefined if the hint is not `[A-Za-z0-9_-]{1,185}`. */
export function partyIdOf(hint: string, publicKey: string): PartyId | undefined {
  return HINT.test(hint) ? `${hint}::${participantOfKey(publicKey)}` : undefined
}

/** The participant that hosts a well-formed party identifier. */
export function partyParticipant(party: PartyId): string {
  return party.slice(party.indexOf('::') + 2)
}

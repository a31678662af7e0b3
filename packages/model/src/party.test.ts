import { createKeyPair } from '@quorumscan/base'
import { describe, expect, it } from 'vitest'
import { isPartyId, participantOfKey, partyIdOf, partyParticipant } from './party.ts'

describe('party identifiers (D-30)', () => {
  it('bind a party to the key of the participant that hosts it', () => {
    const { publicKey } = createKeyPair()
    const party = partyIdOf('alice', publicKey)
    expect(isPartyId(party)).toBe(true)
    expect(partyParticipant(party ?? '')).toBe(participantOfKey(publicKey))
  })

  const hex = '0'.repeat(64)
  it.each([
    '',
    'alice',
    `alice::1220${hex}0`,
    `alice::1220${hex.slice(1)}`,
    `alice:1220${hex}`,
    `::1220${hex}`,
    `al ice::1220${hex}`,
    `alice::1220${hex.slice(1)}G`,
    `alice::1220${hex.slice(1)}A`,
    `a::b::1220${hex}`,
    `${'a'.repeat(186)}::1220${hex}`,
    `alice::1220${hex}\n`,
    7,
    null,
  ])('%j is not a party', (text) => expect(isPartyId(text)).toBe(false))
})

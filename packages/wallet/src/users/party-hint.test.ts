import { isUserId, partyIdOf } from '@quorumscan/model'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partyHintOf } from './registration.ts'

const characters = [..."abzABZ019@^$.!`-#+'~_|:()h5f"]
const userId = fc
  .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 128 })
  .map((list) => list.join(''))

describe('partyHintOf', () => {
  it.each([
    ['alice', 'alice'],
    ['Alice-1', 'Alice-1'],
    ['participant_admin', 'participant__admin'],
    ['a.b@c', 'a_2eb_40c'],
  ])('makes of the user id %j the hint %j', (id, hint) => {
    expect(partyHintOf(id)).toBe(hint)
  })

  it('hashes what would be too long', () => {
    expect(partyHintOf('.'.repeat(61))).toHaveLength(183)
    expect(partyHintOf('.'.repeat(62))).toMatch(/^_h[0-9a-f]{64}$/)
    expect(partyHintOf('.'.repeat(62))).not.toBe(partyHintOf('.'.repeat(63)))
  })

  it('makes a valid hint of every user id', () => {
    fc.assert(
      fc.property(userId, (id) => {
        expect(isUserId(id)).toBe(true)
        expect(partyIdOf(partyHintOf(id), '0'.repeat(64))).toBeDefined()
      }),
    )
  })

  it('has further hints for a user, which no other user gets', () => {
    const number = fc.integer({ min: 1, max: 3 })
    fc.assert(
      fc.property(userId, number, userId, number, (a, m, b, n) => {
        expect(partyIdOf(partyHintOf(a, m), '0'.repeat(64))).toBeDefined()
        fc.pre(a !== b || m !== n)
        expect(partyHintOf(a, m)).not.toBe(partyHintOf(b, n))
      }),
    )
    expect(partyHintOf('alice', 2)).toBe('alice_n2')
    expect(partyHintOf(`${'.'.repeat(61)}`, 2)).toMatch(/^_h[0-9a-f]{64}_n2$/)
  })

  it('gives no two users one hint', () => {
    const short = fc
      .array(fc.constantFrom('_', '.', '2', 'e', '5', 'f', 'h'), { minLength: 1, maxLength: 6 })
      .map((list) => list.join(''))
    fc.assert(
      fc.property(short, short, (a, b) => {
        fc.pre(a !== b)
        expect(partyHintOf(a)).not.toBe(partyHintOf(b))
      }),
      { numRuns: 2_000 },
    )
  })
})

import type { Right } from '@quorumscan/model'
import { describe, expect, it } from 'vitest'
import { assertActAs, assertAdmin, canActAs, canReadAs, isAdmin } from './rights.ts'

const alice = `alice::1220${'0'.repeat(64)}`
const bob = `bob::1220${'0'.repeat(64)}`

describe('rights', () => {
  const rows: [Right, { act: boolean; read: boolean; readOther: boolean; admin: boolean }][] = [
    [
      { kind: 'CanActAs', party: alice },
      { act: true, read: true, readOther: false, admin: false },
    ],
    [
      { kind: 'CanReadAs', party: alice },
      { act: false, read: true, readOther: false, admin: false },
    ],
    [{ kind: 'CanReadAsAnyParty' }, { act: false, read: true, readOther: true, admin: false }],
    [{ kind: 'ParticipantAdmin' }, { act: false, read: false, readOther: false, admin: true }],
  ]
  it.each(rows)('%j allows exactly %j', (right, want) => {
    expect({
      act: canActAs([right], alice),
      read: canReadAs([right], alice),
      readOther: canReadAs([right], bob),
      admin: isAdmin([right]),
    }).toEqual(want)
  })

  it('must cover all requested parties', () => {
    const rights: Right[] = [{ kind: 'CanActAs', party: alice }]
    expect(() => assertActAs(rights, [alice])).not.toThrow()
    expect(() => assertActAs(rights, [alice, bob])).toThrow('may not')
    expect(() => assertAdmin(rights)).toThrow('may not')
  })
})

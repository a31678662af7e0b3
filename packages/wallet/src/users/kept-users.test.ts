import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { expect, it } from 'vitest'
import { createKeptUsers } from './kept-users.ts'
import { newUser } from './registration.ts'

const PARTICIPANT = 'ab'.repeat(32)

function createWorld(
  options: { hasUsers?: boolean; wasHereBefore?: boolean; isLossAccepted?: boolean } = {},
) {
  const kept: { text: string | null } = { text: null }
  const user = newUser(FIRST_ADMIN_USER, null)
  const users = createKeptUsers({
    identity: {
      load: async () => kept.text,
      save: async (text) => {
        kept.text = text
      },
    },
    participant: PARTICIPANT,
    users: { get: async () => (options.hasUsers === true ? { user, rights: [] } : null) },
    operatorParty: 'operator::1220',
    ledger: {
      isPartyAllocated: async (party) =>
        party === 'operator::1220' && options.wasHereBefore === true,
    },
    assertCaughtUp: () => {},
    isLossAccepted: options.isLossAccepted ?? false,
  })
  return { kept, users }
}

it('a new participant begins, and notes whose users these are', async () => {
  const { kept, users } = createWorld()
  await expect(users.assertThere()).rejects.toMatchObject({ code: 'NOT_READY' })
  await users.begin()
  await users.assertThere()
  expect(kept.text).toBe(PARTICIPANT)
})

it('users of a time that knew no identity are there', async () => {
  const { kept, users } = createWorld({ hasUsers: true, wasHereBefore: true })
  await users.begin()
  expect(kept.text).toBe(PARTICIPANT)
})

it('a participant that the ledger knows without its users has lost them, until that is accepted', async () => {
  const { kept, users } = createWorld({ wasHereBefore: true })
  await expect(users.begin()).rejects.toMatchObject({ code: 'USERS_LOST' })
  await expect(users.assertThere()).rejects.toMatchObject({ code: 'USERS_LOST' })
  expect(kept.text).toBe(null)
  // An operator restored them.
  kept.text = PARTICIPANT
  await users.begin()
  await users.assertThere()

  const accepted = createWorld({ wasHereBefore: true, isLossAccepted: true })
  await accepted.users.begin()
  await accepted.users.assertThere()
})

it('users that vanish while the process runs are missed', async () => {
  const { kept, users } = createWorld()
  await users.begin()
  kept.text = null
  await expect(users.assertThere()).rejects.toMatchObject({
    code: 'USERS_LOST',
    spec: { definite: true },
  })
})

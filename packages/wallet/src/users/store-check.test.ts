import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { expect, it } from 'vitest'
import { newUser } from './registration.ts'
import { createStoreCheck } from './store-check.ts'

const PARTICIPANT = 'ab'.repeat(32)

function createWorld(
  options: { hasUsers?: boolean; wasHereBefore?: boolean; isLossAccepted?: boolean } = {},
) {
  const kept: { text: string | null } = { text: null }
  const user = newUser(FIRST_ADMIN_USER, null)
  const users = createStoreCheck({
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

it('a new participant stores its identity with its users', async () => {
  const { kept, users } = createWorld()
  await expect(users.assertIntact()).rejects.toMatchObject({ code: 'NOT_READY' })
  await users.check()
  await users.assertIntact()
  expect(kept.text).toBe(PARTICIPANT)
})

it('users without a stored identity are accepted, and get one', async () => {
  const { kept, users } = createWorld({ hasUsers: true, wasHereBefore: true })
  await users.check()
  expect(kept.text).toBe(PARTICIPANT)
})

it('a participant known to the ledger has lost its users if they are not stored', async () => {
  const { kept, users } = createWorld({ wasHereBefore: true })
  await expect(users.check()).rejects.toMatchObject({ code: 'USERS_LOST' })
  await expect(users.assertIntact()).rejects.toMatchObject({ code: 'USERS_LOST' })
  expect(kept.text).toBe(null)
  // An operator restored them.
  kept.text = PARTICIPANT
  await users.check()
  await users.assertIntact()

  const accepted = createWorld({ wasHereBefore: true, isLossAccepted: true })
  await accepted.users.check()
  await accepted.users.assertIntact()
})

it('users that vanish while the process runs are reported as lost', async () => {
  const { kept, users } = createWorld()
  await users.check()
  kept.text = null
  await expect(users.assertIntact()).rejects.toMatchObject({
    code: 'USERS_LOST',
    spec: { definite: true },
  })
})

import { expect, it } from 'vitest'
import { createKeptUsers } from './kept-users.ts'

function createWorld(
  options: { hasUsers?: boolean; wasHereBefore?: boolean; isLossAccepted?: boolean } = {},
) {
  const kept: { text: string | null } = { text: null }
  const users = createKeptUsers({
    identity: {
      load: async () => kept.text,
      save: async (text) => {
        kept.text = text
      },
    },
    participant: 'ab',
    hasUsers: async () => options.hasUsers ?? false,
    wasHereBefore: async () => options.wasHereBefore ?? false,
    isLossAccepted: options.isLossAccepted ?? false,
  })
  return { kept, users }
}

it('a new participant begins, and notes whose users these are', async () => {
  const { kept, users } = createWorld()
  await expect(users.assertThere()).rejects.toMatchObject({ code: 'NOT_READY' })
  await users.begin()
  await users.assertThere()
  expect(kept.text).toBe('ab')
})

it('users of a time that knew no identity are there', async () => {
  const { kept, users } = createWorld({ hasUsers: true, wasHereBefore: true })
  await users.begin()
  expect(kept.text).toBe('ab')
})

it('a participant that the ledger knows without its users has lost them, until that is accepted', async () => {
  const { kept, users } = createWorld({ wasHereBefore: true })
  await expect(users.begin()).rejects.toMatchObject({ code: 'USERS_LOST' })
  await expect(users.assertThere()).rejects.toMatchObject({ code: 'USERS_LOST' })
  expect(kept.text).toBe(null)
  // Somebody restored them.
  kept.text = 'ab'
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

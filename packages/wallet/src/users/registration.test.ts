/** How many parties a user may take before a registration ends. */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createRegistration, newUser } from './registration.ts'

const PARTICIPANT = 'ab'.repeat(32)
const { signal } = new AbortController()
const never = async () => expect.unreachable('not needed')

/** A registration where the first parties that fit a user belong to others. */
function createWorld({ takenCount }: { readonly takenCount: number }) {
  const claimed: string[] = []
  const registration = createRegistration({
    store: {
      identity: { load: async () => PARTICIPANT, save: async () => {} },
      parties: {
        owner: async () => null,
        async claim(party, userId) {
          claimed.push(party)
          return claimed.length <= takenCount ? 'another' : userId
        },
      },
      users: {
        get: async (id) =>
          id === FIRST_ADMIN_USER ? { user: newUser(id, 'operator::1220'), rights: [] } : null,
        list: async () => [],
        isDeleted: async () => false,
        insert: async () => true,
        insertSelf: async () => true,
        update: never,
      },
    },
    payments: { catchUp: async () => {} },
    ledger: { isPartyAllocated: async () => false },
    submitter: { submit: never },
    participant: PARTICIPANT,
    isLossAccepted: false,
    assertLive: () => {},
    assertCaughtUp: () => {},
    clock: createManualClock(),
    logger: createLogger({ name: 'validator', level: 'silent' }),
  })
  return { claimed, registration }
}

it('a user whose first hundred parties belong to others cannot register', async () => {
  const { claimed, registration } = createWorld({ takenCount: 200 })
  await registration.registerOperator(signal)
  await expect(registration.register('alice', signal)).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
  })
  expect(new Set(claimed).size).toBe(100)
})

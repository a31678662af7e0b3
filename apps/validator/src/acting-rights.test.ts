/** What waits in a queue is refused if its user lost the right meanwhile. */

import type { UserRecord } from '@quorumscan/users'
import { createPartyQueue, newUser } from '@quorumscan/wallet'
import { expect, it } from 'vitest'
import { rightsToAct, withRightsToAct } from './acting-rights.ts'

const party = `alice::1220${'0'.repeat(64)}`
const rights = [{ kind: 'CanActAs' as const, party }]
const alice: UserRecord = { user: newUser('alice', party), rights }

it.each([
  ['deleted', null],
  ['deactivated', { ...alice, user: { ...alice.user, isDeactivated: true } }],
  ['without the right to act', { ...alice, rights: [] }],
  [
    'with another party',
    { ...alice, rights: [{ ...rights[0], party: party.replace('alice', 'bob') }] },
  ],
] as const)(
  'a payment in the queue of a user who is then %s is not submitted',
  async (_, later) => {
    let record: UserRecord | null = alice
    const submitted: string[] = []
    const users = { get: async () => record }
    const submitter = withRightsToAct(
      {
        dryRun: async () => null,
        submit: async ({ commandId }: { commandId?: string | null }) => {
          submitted.push(String(commandId))
          return {} as never
        },
      } as never,
      rightsToAct({ users: users as never }),
    )
    const { signal } = new AbortController()
    const queue = createPartyQueue()
    const pay = (commandId: string, actAs = [party]) =>
      queue.run(party, signal, () =>
        submitter.submit({ userId: 'alice', actAs, commands: [], commandId }, signal),
      )
    const first = pay('first')
    const second = queue
      .run(party, signal, async () => {
        record = later as UserRecord | null
      })
      .then(() => pay('second'))
    await first
    await expect(second).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(submitted).toEqual(['first'])
    // Commands of no party are those of the validator.
    await pay('third', [])
    expect(submitted).toEqual(['first', 'third'])
  },
)

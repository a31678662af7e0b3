/** What waits in a queue is refused if its user lost the right meanwhile. */

import type { UserRecord } from '@quorumscan/users'
import { createPartyQueue, newUser } from '@quorumscan/wallet'
import { expect, it } from 'vitest'
import { rightsToAct, withRightsToAct } from './acting-rights.ts'

const party = `alice::1220${'0'.repeat(64)}`
const OTHER = party.replace('alice', 'bob')
const rights = [{ kind: 'CanActAs' as const, party }]
const alice: UserRecord = { user: newUser('alice', party), rights }

it.each([
  ['deleted', null],
  ['deactivated', { ...alice, user: { ...alice.user, isDeactivated: true } }],
  ['without the right to act', { ...alice, rights: [] }],
  ['allowed to read only', { ...alice, rights: [{ kind: 'CanReadAs' as const, party }] }],
  ['an administrator', { ...alice, rights: [{ kind: 'ParticipantAdmin' as const }] }],
  ['deleted and made again', { user: newUser('alice', null), rights: [] }],
  ['with another party', { ...alice, rights: [{ ...rights[0], party: OTHER }] }],
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

it('a payment that is under way is asked for again before each attempt', async () => {
  let record: UserRecord | null = alice
  const asked: (() => Promise<boolean>)[] = []
  const submitter = withRightsToAct(
    {
      dryRun: async () => null,
      submit: async (_input: unknown, _signal: unknown, isAllowed: () => Promise<boolean>) =>
        asked.push(isAllowed),
    } as never,
    rightsToAct({ users: { get: async () => record } as never }),
  )
  const { signal } = new AbortController()
  await submitter.submit({ userId: 'alice', actAs: [party], commands: [] }, signal)
  const [isAllowed = async () => null] = asked
  expect(await isAllowed()).toBe(true)
  record = null
  expect(await isAllowed()).toBe(false)
})

it.each([
  ['with both rights', [...rights, { kind: 'CanReadAs' as const, party: OTHER }], true],
  ['that may read as any party', [...rights, { kind: 'CanReadAsAnyParty' as const }], true],
  ['without the right to read', rights, false],
  ['without the right to act', [{ kind: 'CanReadAs' as const, party: OTHER }], false],
] as const)(
  'a command that acts as one party and reads as another: of a user %s',
  async (_, given, may) => {
    const users = { get: async () => ({ ...alice, rights: given }) }
    expect(await rightsToAct({ users: users as never })('alice', [party], [party, OTHER])).toBe(may)
  },
)

import type { Right } from '@quorumscan/model'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { openValidatorStore } from '@quorumscan/users'
import { newUser } from '@quorumscan/wallet'
import { expect } from 'vitest'
import { findPausedRenewals, PAUSED_MAX } from './paused-renewals.ts'

const party = `alice::1220${'0'.repeat(64)}`
const mayAct: readonly Right[] = [{ kind: 'CanActAs', party }]

it('renewals are paused whose users may not act, with the reason of each', async ({
  durableRedis,
}) => {
  const redis = { path: durableRedis.socketPath }
  await using store = await openValidatorStore({ redis, genesisHash: 'ab'.repeat(32) })
  const { users, autoRenewals } = store
  await users.insert({ user: newUser('active', party), rights: mayAct })
  const resting = { ...newUser('resting', party), isDeactivated: true }
  await users.insert({ user: resting, rights: mayAct })
  await users.insert({ user: newUser('reading', party), rights: [{ kind: 'CanReadAs', party }] })
  await users.insert({ user: newUser('gone', party), rights: mayAct })
  await users.delete('gone')
  for (const user of ['active', 'resting', 'reading', 'gone'])
    await autoRenewals.set(`00${user}`, { party, user })
  await autoRenewals.set('00anybody', { party, user: null })
  await autoRenewals.set('00nobody', { party: `bob${party.slice(5)}`, user: null })
  const { count, some } = await findPausedRenewals(redis)
  expect(count).toBe(4)
  expect(Object.fromEntries(some.map(({ reference, reason }) => [reference, reason]))).toEqual({
    '00resting': 'deactivated',
    '00reading': 'without the right to act',
    '00gone': 'deleted',
    '00nobody': 'no user',
  })
  const many = Array.from({ length: PAUSED_MAX }, (_, index) => `00${index}`)
  await Promise.all(many.map((id) => autoRenewals.set(id, { party, user: 'gone' })))
  const all = await findPausedRenewals(redis)
  expect([all.count, all.some.length]).toEqual([PAUSED_MAX + 4, PAUSED_MAX])
})

/** Of whom renewals are work, over a real store, and what the validator says of those that are paused. */

import { Scenario } from '@quorumscan/ledger/testing'
import type { Right } from '@quorumscan/model'
import { createLogger, createMetrics } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { itWithRedis as base } from '@quorumscan/testkit/fixtures'
import { openValidatorStore } from '@quorumscan/users'
import { expect } from 'vitest'
import { newUser } from '../users/registration.ts'
import { judgeRenewal } from './renewal-users.ts'
import { maintainRenewals } from './subscriptions.ts'

const HOUR_MS = 3_600_000
const nameOf = (name: string) => `${name}::1220${'0'.repeat(64)}`
const party = nameOf('alice')
const rights: readonly Right[] = [{ kind: 'CanActAs', party }]

const it = base.extend('store', async ({ durableRedis, resources }) =>
  resources.opened(
    await openValidatorStore({
      redis: { path: durableRedis.socketPath },
      genesisHash: 'ab'.repeat(32),
    }),
  ),
)

it('a renewal that names no user is work of its owner, or of any user who may act', async ({
  store,
}) => {
  const { users, parties } = store
  const userOf = async () => (await judgeRenewal(store, { party, user: null })).user
  expect(await userOf()).toBe(null)
  await parties.claim(party, 'owner')
  const ids = Array.from({ length: 600 }, (_, index) => `a-${index}`)
  await Promise.all(ids.map((id) => users.insert({ user: newUser(id, null), rights: [] })))
  expect(await userOf()).toBe(null)
  // Behind the first page.
  await users.insert({ user: newUser('colleague', party), rights })
  expect(await userOf()).toBe('colleague')
  await users.insert({ user: newUser('owner', party), rights })
  expect(await userOf()).toBe('owner')
  await users.update('owner', (record) => ({
    ...record,
    user: { ...record.user, isDeactivated: true },
  }))
  expect(await userOf()).toBe('colleague')
  // One that names its user is of no other.
  expect(await judgeRenewal(store, { party, user: 'owner' })).toEqual({
    user: null,
    reason: 'deactivated',
  })
})

it('paused renewals are counted, and reported at the start and when they become more', async ({
  store,
  resources,
}) => {
  const scenario = new Scenario()
  const alice = scenario.actor('alice')
  const references = ['one', 'two', 'three'].map(
    (name) => scenario.request(alice, `${name}.unverified.ns`).request,
  )
  const { users, autoRenewals } = store
  await users.insert({ user: newUser('active', party), rights })
  const set = (index: number, user: string) =>
    autoRenewals.set(references[index] as string, { party, user })
  await set(0, 'active')
  await set(1, 'gone')
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ name: 'test', level: 'warn', stream })
  const [metrics, clock] = [createMetrics(), createManualClock()]
  const { ledger: memory } = scenario
  const ledger = {
    contracts: async (ids: readonly string[]) => ids.map((id) => memory.contract(id)),
    contractsByKey: async (key: string) => memory.byKey(key),
  }
  resources.opened(maintainRenewals({ ledger, store, clock, logger, metrics, isLive: () => true }))
  const gauge = async () =>
    /^quorumscan_renewals_paused (\d+)$/m.exec((await metrics.expose()).text)?.[1]
  const counts = () => lines.map((line) => JSON.parse(line).count)
  await expect.poll(gauge).toBe('1')
  expect(counts()).toEqual([1])
  await set(0, 'gone')
  await clock.advance(HOUR_MS)
  await expect.poll(gauge).toBe('2')
  await users.insert({ user: newUser('gone', party), rights })
  await clock.advance(HOUR_MS)
  await expect.poll(gauge).toBe('0')
  expect(counts()).toEqual([1, 2])
})

/** A payment that nobody confirms in time is refunded by itself: locks last three ticks, here seconds. */
import { type RunningCluster, startCluster } from 'quorumscan'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUser, lookup, until } from './client.ts'

let cluster: RunningCluster
beforeAll(async () => {
  cluster = await startCluster({ nodes: 4, genesisOverrides: { coin: { tickMicros: 1_000_000 } } })
})
afterAll(() => cluster?.down())

it('coin comes back when two super-validators stay dead until the lock has ended', async () => {
  const alice = await createUser(cluster, 'alice')
  const before = await alice.balance()
  const request = await alice.request('too-late.unverified.ns')
  await cluster.kill('sv-3')
  await cluster.kill('sv-4')
  await alice.accept(request)
  expect(Number((await alice.balance()).effective_locked_qty)).toBe(200)
  const after = await until('the refund', async () => {
    const balance = await alice.balance()
    return Number(balance.effective_locked_qty) === 0 ? balance : undefined
  })
  expect(after.effective_unlocked_qty).toBe(before.effective_unlocked_qty)
  await cluster.restart('sv-3')
  await cluster.restart('sv-4')
  expect((await lookup(cluster, 'too-late.unverified.ns')).status).toBe(404)
})

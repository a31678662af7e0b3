/**
 * A payment without enough confirmations in time is refunded automatically, and a quorum changes the fee of names.
 * Rounds of the cluster take a second, so that locks, which last three rounds, end soon.
 */
import { send, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { createUser, lookup, untilFound, unwrap } from './client.ts'
import { runCommand } from './command.ts'

const it = base.extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
  fileResources.opened(
    await startCluster({ nodes: 4, genesisOverrides: { coin: { tickMicros: 1_000_000 } } }),
  ),
)

it('a payment is refunded if two super-validators are down until its lock has expired', async ({
  cluster,
}) => {
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
  const history = await alice.client.POST('/v0/wallet/transactions', { body: { page_size: 2 } })
  expect(unwrap(history).items).toMatchObject([
    {
      transaction_type: 'balance_change',
      transaction_subtype: { choice: 'SubscriptionInitialPayment_Expire' },
      receivers: [{ party: alice.party, amount: '200.0000000000' }],
    },
    { transaction_subtype: { choice: 'SubscriptionRequest_AcceptAndMakePayment' } },
  ])
  await cluster.restart('sv-3')
  await cluster.restart('sv-4')
  expect(await lookup(cluster, 'too-late.unverified.ns')).toAnswer(404)
})

it('`config set` changes the rules by a quorum, but not the terms of earlier requests', async ({
  cluster,
}) => {
  const command = (...args: string[]) => runCommand(cluster, 'config', ...args)
  const rules = async () => {
    const { code, stdout, text } = await command('get', '--json')
    expect(code, text).toBe(0)
    return JSON.parse(stdout)
  }
  const before = await rules()
  expect(before.config).toEqual({
    entryFeeUsd: '1.0000000000',
    entryLifetimeMicros: 90 * 86_400_000_000,
    renewalDurationMicros: 30 * 86_400_000_000,
    descriptionPrefix: 'ANS entry: ',
  })
  const carol = await createUser(cluster, 'carol')
  const early = await carol.request('early.unverified.ns')

  const refused = await command('set', 'entry-lifetime=99999d')
  expect(refused.code).toBe(1)
  expect(refused.text).toContain('within a century')
  expect(await rules()).toEqual(before)

  const short = await command('set', 'entry-lifetime=12h')
  expect(short.code).toBe(1)
  expect(short.text).toMatch(/Set renewal-duration\s+to at most entry-lifetime/)
  expect(await rules()).toEqual(before)

  const set = await command('set', 'entry-fee=2.5', 'entry-lifetime=12h', 'renewal-duration=6h')
  expect(set.code, set.text).toBe(0)
  expect(set.text).toContain('2.5000000000 USD')
  const after = await rules()
  expect(after.contractId).not.toBe(before.contractId)
  expect(after.config).toEqual({
    ...before.config,
    entryFeeUsd: '2.5000000000',
    entryLifetimeMicros: 12 * 3_600_000_000,
    renewalDurationMicros: 6 * 3_600_000_000,
  })
  // Every node reports it, and the same change again has no effect.
  for (const url of Object.values(cluster.urls.nodes)) {
    const headers = { 'content-type': 'application/json' }
    const { body } = await send(`${url}/v0/ans-rules`, { method: 'POST', headers, body: '{}' })
    expect(body.ans_rules_update.contract.payload.config.entryFee).toBe('2.5000000000')
  }
  expect((await command('set', 'entry-fee=2.5')).code).toBe(0)
  expect(await rules()).toEqual(after)

  await carol.accept(early)
  await untilFound(cluster, 'early.unverified.ns')
  expect((await carol.balance()).effective_unlocked_qty).toBe('1800.0000000000')
  await carol.pay('late.unverified.ns')
  await untilFound(cluster, 'late.unverified.ns')
  expect((await carol.balance()).effective_unlocked_qty).toBe('1300.0000000000')
})

/**
 * The life cycle of a name, on a real cluster with lifetimes of seconds: it is registered, renewed twice automatically,
 * expires, and is registered by another user. The test uses only HTTP, and checks each step in verified lookups and in
 * the activity history.
 */
import { parseTime } from '@quorumscan/model'
import { until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { isOfType, readActivities } from './activities.ts'
import { clock, createUser, lookup, untilFound, unwrap } from './client.ts'

const SECOND_MICROS = 1_000_000
const LIFETIME_MICROS = 20 * SECOND_MICROS
/** Wide, so that a slow machine renews in time: three quarters of a lifetime are left when a renewal is due. */
const WINDOW_MICROS = 15 * SECOND_MICROS
const NAME = 'alice.unverified.ns'
/** One USD at the price of 0.005. */
const FEE = '200.0000000000'
const REWARD = '10.0000000000'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startCluster({
        nodes: 4,
        genesisOverrides: {
          names: { entryLifetimeMicros: LIFETIME_MICROS, renewalDurationMicros: WINDOW_MICROS },
          coin: { tickMicros: 5 * SECOND_MICROS },
        },
      }),
    ),
  )
  /** Pages of any size return the same rows: payments for the name, and rewards of rounds. */
  .extend(
    'expectActivities',
    ({ cluster }) =>
      async (alice: string, bob: string): Promise<void> => {
        const rows = await readActivities(cluster)
        const again = await readActivities(cluster, { pageSize: 7 })
        expect(again.slice(0, rows.length)).toEqual(rows)

        const { body: dso } = await lookup(cluster, 'dso.ns')
        const locked = (party: string) => ({ from: party, to: party })
        const burned = (party: string) => ({ from: party, to: dso.entry.user })
        const steps = rows.flatMap((row): readonly object[] => {
          if (isOfType('devnet_tap')(row)) return [{ tap: row.tap.coin_owner }]
          if (!isOfType('transfer')(row)) return []
          const { sender, receivers } = row.transfer
          return receivers.map(({ party, amount }) => ({ from: sender.party, to: party, amount }))
        })
        expect(steps).toEqual([
          { tap: alice },
          ...[1, 2, 3].flatMap(() => [
            { ...locked(alice), amount: FEE },
            { ...burned(alice), amount: FEE },
          ]),
          { tap: bob },
          { ...locked(bob), amount: FEE },
          { ...burned(bob), amount: FEE },
        ])

        // Each closed round paid each super-validator once, the same amount.
        const mints = rows.filter(isOfType('mint'))
        const rounds = [...new Set(mints.map((row) => row.round))]
        expect(rounds).toEqual(rounds.map((_, index) => index))
        expect(rounds.length).toBeGreaterThanOrEqual(8)
        for (const round of rounds) {
          const paid = mints.filter((row) => row.round === round).map((row) => row.mint)
          expect(paid.map(({ coin_amount }) => coin_amount)).toEqual(Array(4).fill(REWARD))
          expect(new Set(paid.map(({ coin_owner }) => coin_owner)).size).toBe(4)
        }
      },
  )
  .extend('untilChanged', ({ cluster }) => (entry: Entry): Promise<Entry> => {
    return until('the renewal', async () => {
      const answer = await lookup(cluster, NAME)
      expect(answer.status, 'the name exists while it is renewed').not.toBe(404)
      if (answer.status !== 200) return undefined // Too few nodes answer in time on a busy machine.
      const found = entryOf(answer)
      return found.contractId === entry.contractId ? undefined : found
    })
  })
  /** Looks the name up ten times a second, and once at the end. Stores the answers that nodes agreed on. */
  .extend('watchName', ({ cluster }) => (name: string) => {
    const samples: Sample[] = []
    const stopping = new AbortController()
    const watching = (async () => {
      for (let isLast = false; !isLast; ) {
        isLast = stopping.signal.aborted
        const answer = await lookup(cluster, name)
        const isDecided = answer.status === 200 || answer.status === 404
        if (isDecided)
          samples.push({
            recordTime: parseTime(answer.headers.get('x-quorum-record-time') ?? '') ?? 0,
            outcome: answer.headers.get('x-quorum-outcome'),
            entry: answer.status === 200 ? entryOf(answer) : null,
          })
        await clock.delay(100)
      }
    })()
    const stop = async (): Promise<readonly Sample[]> => {
      stopping.abort()
      await watching
      return samples
    }
    return { stop, [Symbol.asyncDispose]: async () => void (await stop()) }
  })

it('a name is renewed twice, expires, and is registered by another user', async ({
  cluster,
  watchName,
  untilChanged,
  expectActivities,
}) => {
  const alice = await createUser(cluster, 'alice')
  await using watch = watchName(NAME)
  await alice.accept(await alice.request(NAME), { autoRenew: true })
  const first = entryOf(await untilFound(cluster, NAME))
  expect(first).toMatchObject({ user: alice.party, name: NAME })

  // Each renewal creates a contract with one more lifetime, and burns a fee.
  const second = await untilChanged(first)
  expect(second.expiresAt).toBe(first.expiresAt + LIFETIME_MICROS)
  const third = await untilChanged(second)
  expect(third.expiresAt).toBe(second.expiresAt + LIFETIME_MICROS)
  expect(await alice.balance()).toMatchObject({
    effective_unlocked_qty: '1400.0000000000',
    effective_locked_qty: '0.0000000000',
  })

  const { subscriptions } = unwrap(await alice.client.GET('/v0/wallet/subscriptions'))
  expect(subscriptions).toMatchObject([{ auto_renew: true, state: { idle: {} } }])
  const params = { path: { contract_id: subscriptions[0]?.subscription.contract_id ?? '' } }
  const path = '/v0/wallet/subscriptions/{contract_id}/auto-renew'
  const off = await alice.client.PUT(path, { params, body: { enabled: false } })
  expect(unwrap(off)).toEqual({ auto_renew: false })
  const own = unwrap(await alice.client.GET('/v0/entry/all')).entries
  expect(own).toMatchObject([{ name: NAME, contractId: third.contractId }])

  // Without a renewal the name disappears at expiresAt from lookups and from the owner's list.
  await until('the name to expire', async () =>
    (await lookup(cluster, NAME)).status === 404 ? true : undefined,
  )
  expect(unwrap(await alice.client.GET('/v0/entry/all')).entries).toEqual([])
  const bob = await createUser(cluster, 'bob')
  await bob.pay(NAME)
  const fourth = entryOf(await untilFound(cluster, NAME))
  expect(fourth.user).toBe(bob.party)
  await until('the expired subscription to be deleted', async () => {
    const { data } = await alice.client.GET('/v0/wallet/subscriptions')
    return data?.subscriptions.length === 0 ? true : undefined
  })
  expect((await alice.balance()).effective_unlocked_qty).toBe('1400.0000000000')
  expect((await bob.balance()).effective_unlocked_qty).toBe('1800.0000000000')

  // Every answer of a client that looked the name up continuously was verified.
  const samples = await watch.stop()
  const contractIds = samples.map(({ entry }) => entry?.contractId ?? 'nothing')
  expect(contractIds.filter((id, index) => id !== contractIds[index - 1])).toEqual([
    'nothing',
    ...[first, second, third].map(({ contractId }) => contractId),
    'nothing',
    fourth.contractId,
  ])
  for (const { recordTime, entry, outcome } of samples) {
    expect(outcome).toBe(entry === null ? 'verified-absent' : 'verified')
    if (entry !== null) expect(recordTime).toBeLessThan(entry.expiresAt)
  }
  const expiredIndex = samples.findLastIndex(({ entry }) => entry === null)
  expect(samples[expiredIndex]?.recordTime).toBeGreaterThanOrEqual(third.expiresAt)

  await expectActivities(alice.party, bob.party)
})

type Entry = { contractId: string; user: string; name: string; expiresAt: number }
type Lookup = Awaited<ReturnType<typeof lookup>>

function entryOf(answer: Lookup): Entry {
  const { contract_id: contractId, user, name, expires_at: text } = answer.body.entry
  const expiresAt = parseTime(text)
  if (expiresAt === undefined) throw new Error(`${text} is not a time`)
  return { contractId, user, name, expiresAt }
}

type Sample = { recordTime: number; outcome: string | null; entry: Entry | null }

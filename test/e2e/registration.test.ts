/**
 * Names and coin on a real cluster whose lifetimes and rounds take seconds: a name from its registration to the next
 * owner, a payment that is not confirmed in time, and a change of the fee. All tests share one cluster.
 */
import { parseTime } from '@quorumscan/model'
import { type HttpAnswer, send, untilRead } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { clock, createUser, lookup, untilFound, unwrap } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { isOfType, readActivities } from './activities.ts'

const SECOND_MICROS = 1_000_000
/** Long, so that a slow machine still reads a name before it expires. */
const LIFETIME_MICROS = 20 * SECOND_MICROS
/** Wide, so that a slow machine renews in time: nine tenths of a lifetime are left when a renewal is due. */
const WINDOW_MICROS = 18 * SECOND_MICROS
/** A lock lasts three ticks, in which a slow machine confirms a payment. */
const TICK_MICROS = 10 * SECOND_MICROS
/** One USD at the price of 0.005. */
const FEE = '200.0000000000'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startCluster({
        nodes: 4,
        genesisOverrides: {
          names: { entryLifetimeMicros: LIFETIME_MICROS, renewalDurationMicros: WINDOW_MICROS },
          coin: { tickMicros: TICK_MICROS },
        },
      }),
    ),
  )
  /** The payments of these parties, oldest first. */
  .extend('paymentsOf', ({ cluster }) => async (parties: readonly string[]) => {
    const rows = await readActivities(cluster)
    return rows
      .filter(isOfType('transfer'))
      .flatMap(({ transfer: { sender, receivers } }) =>
        parties.includes(sender.party)
          ? receivers.map(({ party, amount }) => ({ from: sender.party, to: party, amount }))
          : [],
      )
  })
  /** Looks the name up ten times a second, and once at the end. Stores the answers that nodes agreed on. */
  .extend('watchName', ({ cluster }) => (name: string) => {
    const samples: Sample[] = []
    let last: HttpAnswer | undefined
    const stopping = new AbortController()
    const watching = (async () => {
      for (let isLast = false; !isLast; ) {
        isLast = stopping.signal.aborted
        const answer = await lookup(cluster, name)
        last = answer
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
    return {
      /** Waits until the newest answer that nodes agreed on meets the condition. */
      until: async (what: string, isMet: (entry: Entry | null) => boolean) => {
        const read = () => ({ ...last, sample: samples.at(-1) })
        const { sample } = await untilRead(
          what,
          read,
          ({ sample }) => sample !== undefined && isMet(sample.entry),
        )
        return sample?.entry ?? null
      },
      stop,
      [Symbol.asyncDispose]: async () => void (await stop()),
    }
  })

it.afterEach(async ({ cluster }) => {
  await cluster.heal()
  await untilRead(
    'all four nodes to vote',
    () => lookup(cluster, 'dso.ns', { 'x-quorum': 'all' }),
    ({ status }) => status === 200,
  )
})

type Entry = { contractId: string; user: string; name: string; expiresAt: number }
type Sample = { recordTime: number; outcome: string | null; entry: Entry | null }

function entryOf(answer: Awaited<ReturnType<typeof lookup>>): Entry {
  const { contract_id: contractId, user, name, expires_at: text } = answer.body.entry
  const expiresAt = parseTime(text)
  if (expiresAt === undefined) throw new Error(`${text} is not a time`)
  return { contractId, user, name, expiresAt }
}

it('a name is renewed, expires, and is registered by another user', async ({
  cluster,
  watchName,
  paymentsOf,
}) => {
  const name = 'alice.unverified.ns'
  const alice = await createUser(cluster, 'alice')
  await using watch = watchName(name)
  await alice.accept(await alice.request(name), { autoRenew: true })
  const first = entryOf(await untilFound(cluster, name))
  expect(first).toMatchObject({ user: alice.party, name })

  // The renewal creates a contract with one more lifetime, and burns a fee.
  const second = await watch.until(
    'the renewal',
    (entry) => entry !== null && entry.contractId !== first.contractId,
  )
  expect(second?.expiresAt).toBe(first.expiresAt + LIFETIME_MICROS)
  const { subscriptions } = unwrap(await alice.client.GET('/v0/wallet/subscriptions'))
  expect(subscriptions).toMatchObject([{ auto_renew: true, state: { idle: {} } }])
  const params = { path: { contract_id: subscriptions[0]?.subscription.contract_id ?? '' } }
  const path = '/v0/wallet/subscriptions/{contract_id}/auto-renew'
  const off = await alice.client.PUT(path, { params, body: { enabled: false } })
  expect(unwrap(off)).toEqual({ auto_renew: false })

  await watch.until('the name to expire', (entry) => entry === null)
  const bob = await createUser(cluster, 'bob')
  await bob.pay(name)
  const third = entryOf(await untilFound(cluster, name))
  expect(third.user).toBe(bob.party)

  // Every answer of a client that looked the name up continuously was verified.
  const samples = await watch.stop()
  const contractIds = samples.map(({ entry }) => entry?.contractId ?? 'nothing')
  expect(contractIds.filter((id, index) => id !== contractIds[index - 1])).toEqual([
    'nothing',
    first.contractId,
    second?.contractId,
    'nothing',
    third.contractId,
  ])
  for (const { recordTime, entry, outcome } of samples) {
    expect(outcome).toBe(entry === null ? 'verified-absent' : 'verified')
    if (entry !== null) expect(recordTime).toBeLessThan(entry.expiresAt)
  }
  const expiredIndex = samples.findLastIndex(({ entry }) => entry === null)
  expect(samples[expiredIndex]?.recordTime).toBeGreaterThanOrEqual(second?.expiresAt ?? Infinity)

  const { body: dso } = await lookup(cluster, 'dso.ns')
  const payment = (from: string) => [
    { from, to: from, amount: FEE },
    { from, to: dso.entry.user, amount: FEE },
  ]
  expect(await paymentsOf([alice.party, bob.party])).toEqual(
    [alice, alice, bob].flatMap(({ party }) => payment(party)),
  )
})

it('a payment is refunded if two super-validators are down until its lock has expired', {
  tags: ['rest'],
}, async ({ cluster }) => {
  const name = 'too-late.unverified.ns'
  const erin = await createUser(cluster, 'erin')
  const before = await erin.balance()
  const request = await erin.request(name)
  await cluster.kill('sv-3')
  await cluster.kill('sv-4')
  await erin.accept(request)
  expect(Number((await erin.balance()).effective_locked_qty)).toBe(200)
  const isRefunded = (balance: typeof before) => Number(balance.effective_locked_qty) === 0
  const after = await untilRead('the refund', () => erin.balance(), isRefunded, { intervalMs: 200 })
  expect(after.effective_unlocked_qty).toBe(before.effective_unlocked_qty)
  const history = await erin.client.POST('/v0/wallet/transactions', { body: { page_size: 2 } })
  expect(unwrap(history).items).toMatchObject([
    {
      transaction_type: 'balance_change',
      transaction_subtype: { choice: 'SubscriptionInitialPayment_Expire' },
      receivers: [{ party: erin.party, amount: FEE }],
    },
    { transaction_subtype: { choice: 'SubscriptionRequest_AcceptAndMakePayment' } },
  ])
  await cluster.heal()
  expect(await lookup(cluster, name)).toAnswer(404)
})

it('`config set` changes the fee by a quorum, but not the terms of earlier requests', {
  tags: ['rest'],
}, async ({ cluster, resources }) => {
  const config = async (...args: string[]) => {
    const { code, stdout, text } = await runCommand(cluster, 'config', ...args, '--json')
    expect(code, text).toBe(0)
    return JSON.parse(stdout)
  }
  const before = await config('get')
  expect(before.config).toMatchObject({
    entryFeeUsd: '1.0000000000',
    entryLifetimeMicros: LIFETIME_MICROS,
  })
  const carol = await createUser(cluster, 'carol')
  const early = await carol.request('early.unverified.ns')

  resources.onClose(() => config('set', 'entry-fee=1'))
  await config('set', 'entry-fee=2.5')
  const after = await config('get')
  expect(after.contractId).not.toBe(before.contractId)
  expect(after.config).toEqual({ ...before.config, entryFeeUsd: '2.5000000000' })
  for (const url of Object.values(cluster.urls.nodes)) {
    const { body } = await send(`${url}/v0/ans-rules`, { method: 'POST', body: {} })
    expect(body.ans_rules_update.contract.payload.config.entryFee).toBe('2.5000000000')
  }

  const pay = async (request: string, name: string) => {
    await carol.accept(request)
    await untilFound(cluster, name)
    return (await carol.balance()).effective_unlocked_qty
  }
  expect(await pay(early, 'early.unverified.ns')).toBe('1800.0000000000')
  const late = await carol.request('late.unverified.ns')
  expect(await pay(late, 'late.unverified.ns')).toBe('1300.0000000000')
})

/**
 * Users register and renew names while super-validators, synchronizer, validator and the Redis of each are
 * killed at random moments. Afterwards everything must be as if nothing had happened: no payment lost, none
 * taken twice, every replica with the same history.
 *
 *   SEED=7       the plan and the blows of this seed again (their timing is that of the machine)
 *   BLOWS=75     so many of them
 *   LONG=1       three hundred names and blows (`npm run test:long`)
 */
import { setMaxListeners } from 'node:events'
import { systemRandom } from '@quorumscan/base'
import { formatAmount, parseAmount, parseTime } from '@quorumscan/model'
import { type HttpAnswer, send, slowness, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSeededRandom } from '../sim/seeded-random.ts'
import { startCluster } from '../support/clusters.ts'
import { isOfType, readActivities } from './activities.ts'
import { lookup } from './client.ts'
import { startKilling } from './random-kills/killer.ts'
import { drawPlan, expectedOf, type Goal, type Plan } from './random-kills/plan.ts'
import { openStubbornWallet, type StubbornWallet } from './random-kills/stubborn-wallet.ts'

const IS_LONG = process.env['LONG'] === '1'
const GOAL_COUNT = IS_LONG ? 300 : 12
const BLOW_COUNT = Number(process.env['BLOWS'] ?? (IS_LONG ? 300 : 10))
/** When the killing ends, even if users are not done: the rest must then go through by itself. */
const KILLING_MS = BLOW_COUNT * 4_000
/** When users give up, to say what they still wait for. */
const PATIENCE_MS = KILLING_MS + 120_000 * slowness()
const SEED = Number(process.env['SEED'] ?? Math.floor(systemRandom.fraction() * 2 ** 32))

/** Names outlive the test, and can be renewed at once, but not twice. */
const LIFETIME_MICROS = 3_600_000_000
/** Short enough that locks, which last three ticks, end now and then before enough nodes are up. */
const TICK_MICROS = 7_000_000
const TAP_USD = '100.0'
const TAPPED = amountOf('20000.0')
const FEE = amountOf('200.0')
const REWARD = amountOf('10.0')

let cluster: RunningCluster
beforeAll(async () => {
  process.stdout.write(`random kills: SEED=${SEED}\n`)
  cluster = await startCluster({
    nodes: 4,
    genesisOverrides: {
      names: { entryLifetimeMicros: LIFETIME_MICROS, renewalDurationMicros: LIFETIME_MICROS },
      coin: { tickMicros: TICK_MICROS },
    },
  })
})
afterAll(() => cluster?.down())

it(`${GOAL_COUNT} names, whatever is killed meanwhile: nothing is lost and nothing is doubled`, {
  tags: IS_LONG ? ['long-run'] : [],
}, async () => {
  const random = createSeededRandom(SEED)
  const plan = drawPlan(random.split(), GOAL_COUNT)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  // Every goal waits for it.
  setMaxListeners(0, signal)
  const killer = startKilling(cluster, { random: random.split(), blowCountMax: BLOW_COUNT })
  const killingEnds = AbortSignal.timeout(KILLING_MS)
  killingEnds.addEventListener('abort', () => void killer.heal())

  const wallets = new Map<string, StubbornWallet>()
  await Promise.all(
    plan.users.map(async (user) => {
      const options = { user, lifetimeMicros: LIFETIME_MICROS, signal }
      const wallet = await openStubbornWallet(cluster, options)
      await wallet.tap(TAP_USD)
      wallets.set(user, wallet)
    }),
  )
  const winners = new Map(
    await Promise.all(
      plan.goals.map(async (goal) => [goal.name, await fulfil(goal, wallets)] as const),
    ),
  )
  await killer.done
  await killer.heal()
  process.stdout.write(`random kills: ${killer.blows.length} blows: ${killer.blows.join(', ')}\n`)

  const end = await ledgerEnd()
  await expectSameHistory(end)
  await expectNames(plan, { winners, wallets, end })
  await expectCoin(plan, { winners, wallets })
})

/** All who want the name try to get it at the same time; the one who did, once it is renewed as planned. */
async function fulfil(goal: Goal, wallets: ReadonlyMap<string, StubbornWallet>): Promise<string> {
  const { name, renewal } = goal
  const tries = await Promise.all(
    goal.users.map(async (user) => {
      const outcome = await wallets.get(user)?.obtain(name, renewal)
      if (outcome === 'won' && renewal !== 'none')
        await wallets.get(user)?.untilRenewed(name, renewal)
      return { user, outcome }
    }),
  )
  const winners = tries.filter(({ outcome }) => outcome === 'won').map(({ user }) => user)
  expect(winners, `who got ${name}`).toHaveLength(1)
  return winners[0] as string
}

/** Of the validator's replica, from which the users know what they have. */
async function ledgerEnd(): Promise<number> {
  const token = await cluster.token('participant_admin')
  const { body } = await send(`${cluster.urls.validator}/v2/state/ledger-end`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return body.offset
}

/** What all four nodes say, once each is as far as the users know; one may have been started just now. */
function lookupAtAll(name: string, end: number): Promise<HttpAnswer> {
  return until(`all four nodes to agree on ${name}`, async () => {
    const answer = await lookup(cluster, name, { 'x-quorum': 'all', 'x-min-offset': String(end) })
    return answer.status === 200 ? answer : undefined
  })
}

/** Every node has the same history at one offset, and the proxy, whose own replica must agree, says so. */
async function expectSameHistory(end: number): Promise<void> {
  const all = await lookupAtAll('dso.ns', end)
  const offset = all.headers.get('x-quorum-offset') ?? ''
  const hashes = await Promise.all(
    Object.values(cluster.urls.nodes).map(async (url) => {
      const headers = { 'x-read-at-offset': offset }
      const answer = await send(`${url}/v0/ans-entries/by-name/dso.ns`, { headers })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.headers.get('x-ledger-history-hash')
    }),
  )
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(hashes).size).toBe(1)
}

type Outcome = {
  readonly winners: ReadonlyMap<string, string>
  readonly wallets: ReadonlyMap<string, StubbornWallet>
}

async function expectNames(
  plan: Plan,
  { winners, wallets, end }: Outcome & { readonly end: number },
): Promise<void> {
  const { renewals } = expectedOf(plan, winners)
  for (const [user, wallet] of wallets) {
    const won = plan.goals.filter(({ name }) => winners.get(name) === user)
    const subscriptions = await wallet.subscriptions()
    expect(subscriptions.map(({ name }) => name).sort()).toEqual(won.map(({ name }) => name).sort())
    for (const { name, createdAt, nextDueAt } of subscriptions) {
      // A name begins with its subscription, at the collection of the first payment (D-22).
      const expiresAt = createdAt + (1 + (renewals.get(name) ?? 0)) * LIFETIME_MICROS
      expect(nextDueAt, name).toBe(expiresAt)
      const { body } = await lookupAtAll(name, end)
      expect(body.entry).toMatchObject({ name, user: wallet.party })
      expect(parseTime(body.entry.expires_at), name).toBe(expiresAt)
    }
  }
}

async function expectCoin(plan: Plan, { winners, wallets }: Outcome): Promise<void> {
  const { feesPaid } = expectedOf(plan, winners)
  for (const [user, wallet] of wallets) {
    const unlocked = formatAmount(TAPPED - BigInt(feesPaid.get(user) ?? 0) * FEE)
    const nothing = formatAmount(0n)
    expect({ user, ...(await wallet.balance()) }).toEqual({ user, unlocked, locked: nothing })
  }

  // The history tells the same: each tap and each burned fee is a row, once.
  const rows = await readActivities(cluster)
  const { body: dso } = await lookup(cluster, 'dso.ns')
  const taps = rows.filter(isOfType('devnet_tap')).map((row) => row.tap)
  const burns = rows
    .filter(isOfType('transfer'))
    .filter(({ transfer }) => transfer.receivers.some(({ party }) => party === dso.entry.user))
    .map(({ transfer }) => transfer.sender.party)
  for (const [user, { party }] of wallets) {
    expect(taps.filter((tap) => tap.coin_owner === party)).toHaveLength(1)
    expect(burns.filter((payer) => payer === party).length, user).toBe(feesPaid.get(user))
  }
  expect(taps).toHaveLength(wallets.size)
  expect(burns).toHaveLength([...feesPaid.values()].reduce((sum, count) => sum + count, 0))

  // Each round that closed paid each super-validator once.
  const mints = rows.filter(isOfType('mint'))
  expect(mints.length).toBeGreaterThan(0)
  expect(new Set(mints.map(({ round, mint }) => `${round} ${mint.coin_owner}`)).size).toBe(
    mints.length,
  )
  expect(mints.map(({ round }) => round)).toEqual(
    mints.map((_, index) => Math.floor(index / Object.keys(cluster.urls.nodes).length)),
  )
  expect(mints.every(({ mint }) => mint.coin_amount === formatAmount(REWARD))).toBe(true)
}

function amountOf(text: string): bigint {
  const amount = parseAmount(text)
  if (amount === undefined) throw new Error(`${text} is no amount`)
  return amount
}

/**
 * Random faults of all processes while users register, renew, transfer and read: chaos runs of 20 s within the fault
 * budget, judged by the independent checker; and kills of super-validators, synchronizer, validator and the Redis of
 * each, beyond any budget, after which no payment may be lost or taken twice, and every replica has the same history.
 *
 *   SEED=7       repeats the plan and the kills of this seed; their timing depends on the machine
 *   BLOWS=75     sets the number of kills
 *
 * @module-tag rest
 */
import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemRandom } from '@quorumscan/base'
import { formatAmount, parseAmount, parseTime } from '@quorumscan/model'
import { cases, type HttpAnswer, send, slowness, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { lookup } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { isOfType, readActivities } from './activities.ts'
import { startKiller } from './random-kills/killer.ts'
import { drawPlan, expectedOf, type Goal, type Plan } from './random-kills/plan.ts'
import { openRetryingWallet, type RetryingWallet } from './random-kills/retrying-wallet.ts'

const GOAL_COUNT = cases(12, 60)
const KILL_COUNT = Number(process.env['BLOWS'] ?? cases(10, 45))
/** When the kills end, even if users are not done. The remaining work must then complete. */
const KILLING_MS = KILL_COUNT * 4_000
/** When users stop, and report what they still wait for. */
const PATIENCE_MS = KILLING_MS + 120_000 * slowness()
const SEED = Number(process.env['SEED'] ?? Math.floor(systemRandom.fraction() * 2 ** 32))
const CHAOS_SEED = process.env['SEED'] ?? 'ci'
/** Rules that a chaos run of 20 s exercises only by chance. All other rules must have samples. */
const EXERCISED_BY_CHANCE = [
  'lies are seen',
  'equivocation is detected',
  'an accepted transfer stays accepted',
]
/** Chaos runs until every other rule has samples. */
const RUNS_MAX = 4

/** Names outlive the tests, and can be renewed immediately, but not twice. */
const LIFETIME_MICROS = 3_600_000_000
const LONG_LIFE = ['entry-lifetime=1h', 'renewal-duration=1h']
/** Names expire within a chaos run. */
const SHORT_LIFE = ['entry-lifetime=12s', 'renewal-duration=10s']
/** Short, so that some locks, which last three ticks, end before enough nodes are up. */
const TICK_MICROS = 7_000_000
const TAP_USD = '100.0'
const TAPPED = amountOf('20000.0')
const FEE = amountOf('200.0')
const REWARD = amountOf('10.0')

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) => {
    process.stdout.write(`random kills: SEED=${SEED}\n`)
    return fileResources.opened(
      await startCluster({
        nodes: 4,
        genesisOverrides: { coin: { tickMicros: TICK_MICROS } },
      }),
    )
  })
  /** Changes the rules of the names that are requested from now on. */
  .extend('setRules', ({ cluster }) => async (rules: readonly string[]): Promise<void> => {
    const { code, text } = await runCommand(cluster, 'config', 'set', ...rules)
    expect(code, text).toBe(0)
  })
  /** Ledger end of the validator's replica, which holds the users' data. */
  .extend('ledgerEnd', ({ cluster }) => async (): Promise<number> => {
    const token = await cluster.token('participant_admin')
    const { body } = await send(`${cluster.urls.validator}/v2/state/ledger-end`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return body.offset
  })
  /** The answer of all four nodes at or after `end`. It waits, because a node may still catch up. */
  .extend('lookupAtAll', ({ cluster }) => (name: string, end: number): Promise<HttpAnswer> => {
    return until(`all four nodes to agree on ${name}`, async () => {
      const answer = await lookup(cluster, name, { 'x-quorum': 'all', 'x-min-offset': String(end) })
      return answer.status === 200 ? answer : undefined
    })
  })
  /** Every node has the same history at one offset, and so has the replica of the proxy. */
  .extend('expectSameHistory', ({ lookupAtAll, cluster }) => async (end: number): Promise<void> => {
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
  })
  .extend(
    'expectNames',
    ({ lookupAtAll }) =>
      async (
        plan: Plan,
        { winners, wallets, end }: Outcome & { readonly end: number },
      ): Promise<void> => {
        const { renewals } = expectedOf(plan, winners)
        for (const [user, wallet] of wallets) {
          const won = plan.goals.filter(({ name }) => winners.get(name) === user)
          const subscriptions = await wallet.subscriptions()
          expect(subscriptions.map(({ name }) => name).sort()).toEqual(
            won.map(({ name }) => name).sort(),
          )
          for (const { name, createdAt, nextDueAt } of subscriptions) {
            // A name and its subscription start when the first payment is collected (D-22).
            const expiresAt = createdAt + (1 + (renewals.get(name) ?? 0)) * LIFETIME_MICROS
            expect(nextDueAt, name).toBe(expiresAt)
            const { body } = await lookupAtAll(name, end)
            expect(body.entry).toMatchObject({ name, user: wallet.party })
            expect(parseTime(body.entry.expires_at), name).toBe(expiresAt)
          }
        }
      },
  )
  .extend(
    'expectCoin',
    ({ cluster }) =>
      async (plan: Plan, { winners, wallets }: Outcome): Promise<void> => {
        const { feesPaid } = expectedOf(plan, winners)
        for (const [user, wallet] of wallets) {
          const unlocked = formatAmount(TAPPED - BigInt(feesPaid.get(user) ?? 0) * FEE)
          const nothing = formatAmount(0n)
          expect({ user, ...(await wallet.balance()) }).toEqual({ user, unlocked, locked: nothing })
        }

        // The activity history has one row for each tap and each burned fee.
        const rows = await readActivities(cluster)
        const { body: dso } = await lookup(cluster, 'dso.ns')
        const parties = [...wallets.values()].map(({ party }) => party)
        const taps = rows
          .filter(isOfType('devnet_tap'))
          .map((row) => row.tap)
          .filter((tap) => parties.includes(tap.coin_owner))
        const burns = rows
          .filter(isOfType('transfer'))
          .filter(({ transfer }) =>
            transfer.receivers.some(({ party }) => party === dso.entry.user),
          )
          .map(({ transfer }) => transfer.sender.party)
          .filter((payer) => parties.includes(payer))
        for (const [user, { party }] of wallets) {
          expect(taps.filter((tap) => tap.coin_owner === party)).toHaveLength(1)
          expect(burns.filter((payer) => payer === party).length, user).toBe(feesPaid.get(user))
        }
        expect(taps).toHaveLength(wallets.size)
        expect(burns).toHaveLength([...feesPaid.values()].reduce((sum, count) => sum + count, 0))

        // Each closed round paid each super-validator once.
        const mints = rows.filter(isOfType('mint'))
        expect(mints.length).toBeGreaterThan(0)
        expect(new Set(mints.map(({ round, mint }) => `${round} ${mint.coin_owner}`)).size).toBe(
          mints.length,
        )
        expect(mints.map(({ round }) => round)).toEqual(
          mints.map((_, index) => Math.floor(index / Object.keys(cluster.urls.nodes).length)),
        )
        expect(mints.every(({ mint }) => mint.coin_amount === formatAmount(REWARD))).toBe(true)
      },
  )

it('chaos runs within the fault budget have the verdict valid, and exercise every rule', {
  tags: ['long', 'chaos'],
}, async ({ cluster, setRules }) => {
  await setRules(SHORT_LIFE)
  const samplesOf = new Map<string, number>()
  let runs = 0
  const unexercised = () =>
    [...samplesOf].flatMap(([rule, samples]) =>
      samples > 0 || EXERCISED_BY_CHANCE.includes(rule) ? [] : [rule],
    )
  // One run is enough, unless the machine is too slow for a renewal or a transfer in 20 s.
  do {
    const seed = runs === 0 ? CHAOS_SEED : `${CHAOS_SEED}-${runs}`
    // The expectation below lists the rules that must be exercised.
    const run = await cluster.chaos({ seed, durationMs: 20_000, allowsUnexercised: true })
    const report = JSON.parse(await readFile(join(run.directory, 'report.json'), 'utf8'))
    const rules: { rule: string; samples: number; findings: string[] }[] = report.verdict.rules
    const findings = rules.flatMap((one) => one.findings)
    const { phases, faults, outages } = report
    const about = JSON.stringify({ sentence: run.sentence, phases, faults, outages })
    expect(findings, `seed ${seed}: ${about}`).toEqual([])
    expect(run.verdict, `seed ${seed}: ${about}`).toBe('valid')
    expect(rules.map(({ rule }) => rule)).toEqual(expect.arrayContaining(EXERCISED_BY_CHANCE))
    for (const { rule, samples } of rules) samplesOf.set(rule, samples + (samplesOf.get(rule) ?? 0))
    const history = await readFile(join(run.directory, 'history.jsonl'), 'utf8')
    for (const kind of ['lookup', 'probe', 'write', 'fault', 'signed-state'])
      expect(history, `the run has ${kind}s`).toContain(`{"kind":"${kind}"`)
    expect(await readFile(join(run.directory, 'report.html'), 'utf8')).toContain(
      'wrong answers served: 0',
    )
    runs++
  } while (unexercised().length > 0 && runs < RUNS_MAX)
  expect(unexercised(), `seed ${CHAOS_SEED}: rules without a sample in ${runs} runs`).toEqual([])
})

it(`no payment is lost or taken twice for ${GOAL_COUNT} names while processes are killed`, {
  tags: ['random-kills'],
}, async ({
  cluster,
  setRules,
  resources,
  ledgerEnd,
  expectSameHistory,
  expectNames,
  expectCoin,
}) => {
  await setRules(LONG_LIFE)
  const random = createSeededRandom(SEED)
  const plan = drawPlan(random.split(), GOAL_COUNT)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  // Every goal adds a listener.
  setMaxListeners(0, signal)
  const killer = startKiller(cluster, { random: random.split(), killCountMax: KILL_COUNT })
  resources.onClose(() => killer.heal())
  const killingEnds = AbortSignal.timeout(KILLING_MS)
  killingEnds.addEventListener('abort', () => void killer.heal())

  const wallets = new Map<string, RetryingWallet>()
  await Promise.all(
    plan.users.map(async (user) => {
      const options = { user, lifetimeMicros: LIFETIME_MICROS, signal }
      const wallet = await openRetryingWallet(cluster, options)
      await wallet.tap(TAP_USD)
      wallets.set(user, wallet)
    }),
  )
  const winners = new Map(
    await Promise.all(
      plan.goals.map(async (goal) => [goal.name, await achieve(goal, wallets)] as const),
    ),
  )
  await killer.done
  await killer.heal()
  process.stdout.write(`random kills: ${killer.kills.length} kills: ${killer.kills.join(', ')}\n`)

  const end = await ledgerEnd()
  await expectSameHistory(end)
  await expectNames(plan, { winners, wallets, end })
  await expectCoin(plan, { winners, wallets })
})

/** All users of the goal try to get the name. Returns the winner, after it has renewed the name as planned. */
async function achieve(goal: Goal, wallets: ReadonlyMap<string, RetryingWallet>): Promise<string> {
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

type Outcome = {
  readonly winners: ReadonlyMap<string, string>
  readonly wallets: ReadonlyMap<string, RetryingWallet>
}

function amountOf(text: string): bigint {
  const amount = parseAmount(text)
  if (amount === undefined) throw new Error(`${text} is not an amount`)
  return amount
}

/** A user with many contracts reads lists of them at its permitted rate, next to ten modest users. */
import { createSystemClock } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { Agent, request } from 'undici'
import { createUser } from '../support/client.ts'
import { tapOften } from '../support/network.ts'
import type { Attack } from './attack.ts'

/** What `quorumscan run` has: units per second of an address. */
const UNITS_PER_SECOND = 200
const GREEDY_ADDRESS = '127.0.6.1'
const MODEST_ADDRESSES = Array.from({ length: 10 }, (_, index) => `127.0.7.${index + 1}`)
/** Of each modest user. */
const MODEST_PER_SECOND = 5
const SECONDS = 8
/** Coins of the greedy user: 15 submissions of 100. */
const SUBMISSIONS = 15
const TAPS = 100
const TIMES_MAX = 2
const MORE_MS_MAX = 50
const clock = createSystemClock()

type Asked = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: object
}

export const costlyLists: Attack = {
  name: 'costly-lists',
  needsOwnCluster: true,
  rateLimit: UNITS_PER_SECOND,
  claim:
    `A user with ${SUBMISSIONS * TAPS} coins asks for its balance, coins, contracts at an old offset, and updates, ` +
    `${UNITS_PER_SECOND} times at the start of each second. Ten modest users wait at most twice as long as without it, or ` +
    '50 ms more (99th percentile).',
  async run({ cluster }) {
    const greedy = await createUser(cluster, 'greedy', null)
    await tapOften(cluster, greedy, { submissions: SUBMISSIONS, taps: TAPS })
    const modest = await createUser(cluster, 'modest')
    const balance = (token: string): Asked => ({
      method: 'GET',
      path: '/v0/wallet/balance',
      token,
    })
    const eventFormat = { filtersByParty: { [greedy.party]: {} }, verbose: false }
    const read = { method: 'POST', token: greedy.token } as const
    const costly: Readonly<Record<string, Asked>> = {
      balance: balance(greedy.token),
      coins: { method: 'GET', path: '/v0/wallet/coins?page_size=1000', token: greedy.token },
      contracts: {
        ...read,
        path: '/v2/state/active-contracts?limit=200',
        body: { activeAtOffset: 1, eventFormat },
      },
      'contracts now': {
        ...read,
        path: '/v2/state/active-contracts-page',
        body: { eventFormat, maxPageSize: 2000 },
      },
      updates: {
        ...read,
        path: '/v2/updates?limit=100',
        body: {
          beginExclusive: 0,
          updateFormat: {
            includeTransactions: {
              eventFormat,
              transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
            },
          },
        },
      },
    }
    const figures: Record<string, string> = {}
    let holds = true
    const usual = balance(modest.token)
    await measure(cluster, usual, null) // Code is compiled.
    for (const [name, asked] of Object.entries(costly)) {
      const alone = await measure(cluster, usual, null)
      const withLists = await measure(cluster, usual, asked)
      const isFair = withLists.p99Ms <= Math.max(TIMES_MAX * alone.p99Ms, alone.p99Ms + MORE_MS_MAX)
      holds &&= isFair && withLists.failures === 0 && withLists.served > 0
      figures[name] =
        `p99 alone ${Math.round(alone.p99Ms)} ms, next to the lists ${Math.round(withLists.p99Ms)} ms; ` +
        `${withLists.served} of ${withLists.asked} served; ${withLists.failures} modest ones failed`
    }
    return { holds, figures }
  },
}

/** Ten modest users ask steadily; the greedy one asks at the start of each second as often as its units are, if it does. */
async function measure({ urls }: RunningCluster, modest: Asked, greedy: Asked | null) {
  const waits: number[] = []
  const tally = { asked: 0, served: 0, failures: 0 }
  const ask = async (dispatcher: Agent, { method, path, token, body }: Asked) => {
    const answer = await request(`${urls.validator}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher,
    })
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER })
    return answer.statusCode
  }
  const askModest = async (agent: Agent) => {
    const startedMs = clock.monotonicMs()
    const status = await ask(agent, modest).catch(() => 0)
    if (status !== 200) tally.failures++
    waits.push(clock.monotonicMs() - startedMs)
  }
  const askGreedy = async (agent: Agent, asked: Asked) => {
    tally.asked++
    if ((await ask(agent, asked).catch(() => 0)) === 200) tally.served++
  }
  const running = MODEST_ADDRESSES.map(async (localAddress) => {
    const agent = new Agent({ connect: { localAddress } })
    const asking: Promise<void>[] = []
    for (let index = 0; index < SECONDS * MODEST_PER_SECOND; index++) {
      asking.push(askModest(agent))
      await clock.delay(1_000 / MODEST_PER_SECOND)
    }
    await Promise.all(asking)
    await agent.close()
  })
  if (greedy !== null)
    running.push(
      (async () => {
        const agent = new Agent({
          connections: UNITS_PER_SECOND,
          connect: { localAddress: GREEDY_ADDRESS },
        })
        const asking: Promise<void>[] = []
        for (let second = 0; second < SECONDS; second++) {
          for (let count = 0; count < UNITS_PER_SECOND; count++)
            asking.push(askGreedy(agent, greedy))
          await clock.delay(1_000)
        }
        await Promise.all(asking)
        await agent.close()
      })(),
    )
  await Promise.all(running)
  waits.sort((a, b) => a - b)
  return { ...tally, p99Ms: waits[Math.floor(waits.length * 0.99)] ?? Number.NaN }
}

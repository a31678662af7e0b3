/** A user with many contracts reads lists of them at its permitted rate, next to ten modest users. */
import { median } from '@quorumscan/base'
import type { RunningCluster } from 'quorumscan/testing'
import { startChild } from '../support/child.ts'
import { createUser } from '../support/client.ts'
import type { Asked, ClientsArgument, Waits } from '../support/clients-child.ts'
import { tapOften } from '../support/network.ts'
import type { Attack } from './attack.ts'

const CLIENTS = 'support/clients-child'
/** What `quorumscan run` has: units per second of an address. */
const UNITS_PER_SECOND = 200
const GREEDY = { addresses: ['127.0.6.1'], perSecond: UNITS_PER_SECOND, isBurst: true }
const MODEST = {
  addresses: Array.from({ length: 10 }, (_, index) => `127.0.7.${index + 1}`),
  perSecond: 5,
  isBurst: false,
}
const ROUNDS = 5
const ROUND_MS = 4_000
/** Coins of the greedy user: 98 submissions of 100. */
const SUBMISSIONS = 98
const TAPS = 100
const TIMES_MAX = 2
const MORE_MS_MAX = 50

export const costlyLists: Attack = {
  name: 'costly-lists',
  needsOwnCluster: true,
  rateLimit: UNITS_PER_SECOND,
  claim:
    `A user with ${SUBMISSIONS * TAPS} coins asks for its balance, coins, contracts at an old offset, and updates, ` +
    `${UNITS_PER_SECOND} times at the start of each second. Ten modest users wait at most twice as long as without it, or ` +
    `${MORE_MS_MAX} ms more (99th percentile, median of ${ROUNDS} rounds).`,
  async run({ cluster }) {
    const greedy = await createUser(cluster, 'greedy', null)
    await tapOften(cluster, greedy, { submissions: SUBMISSIONS, taps: TAPS })
    const modest = await createUser(cluster, 'modest')
    const ask = askOf(cluster)
    const eventFormat = { filtersByParty: { [greedy.party]: {} }, verbose: false }
    const updateFormat = {
      includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS' },
    }
    const costly: Readonly<Record<string, Asked>> = {
      balance: ask(greedy.token, '/v0/wallet/balance'),
      coins: ask(greedy.token, '/v0/wallet/coins?page_size=1000'),
      contracts: ask(greedy.token, '/v2/state/active-contracts?limit=200', {
        activeAtOffset: 1,
        eventFormat,
      }),
      'contracts now': ask(greedy.token, '/v2/state/active-contracts-page', {
        eventFormat,
        maxPageSize: 2000,
      }),
      updates: ask(greedy.token, '/v2/updates?limit=100', { beginExclusive: 0, updateFormat }),
    }
    const usual = ask(modest.token, '/v0/wallet/balance')
    const argument: ClientsArgument = { ...usual, ...MODEST, ms: ROUND_MS }
    await using modestUsers = startChild(CLIENTS, argument)
    await modestUsers.result<Waits>() // Code is compiled.
    const figures: Record<string, string> = {}
    let holds = true
    for (const [name, asked] of Object.entries(costly)) {
      await using greedyUser = startChild(CLIENTS, { ...asked, ...GREEDY, ms: 1 })
      await greedyUser.result<Waits>()
      const rounds: Round[] = []
      while (rounds.length < ROUNDS) {
        const alone = await modestUsers.again<Waits>()
        const [together, lists] = await Promise.all([
          modestUsers.again<Waits>(),
          greedyUser.again<Waits>({ ms: ROUND_MS }),
        ])
        rounds.push({ alone, together, lists })
      }
      const verdict = judge(rounds)
      holds &&= verdict.holds
      figures[name] = verdict.figures
    }
    return { holds, figures }
  },
}

const askOf =
  ({ urls }: RunningCluster) =>
  (token: string, path: string, body?: object): Asked => ({
    url: urls.validator,
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    bodies: body === undefined ? [] : [JSON.stringify(body)],
  })

type Round = { readonly alone: Waits; readonly together: Waits; readonly lists: Waits }

function judge(rounds: readonly Round[]) {
  const ofPermitted = median(
    rounds.map(({ alone: { p99Ms }, together }) => {
      return together.p99Ms / Math.max(TIMES_MAX * p99Ms, p99Ms + MORE_MS_MAX)
    }),
  )
  const served = rounds.reduce((sum, { lists }) => sum + lists.servedCount, 0)
  const asked = rounds.reduce((sum, { lists }) => sum + lists.count, 0)
  const failure = rounds.flatMap(
    ({ alone, together }) => together.failure ?? alone.failure ?? [],
  )[0]
  const waits = (of: 'alone' | 'together') => Math.round(median(rounds.map((one) => one[of].p99Ms)))
  return {
    holds: ofPermitted <= 1 && failure === undefined && served > 0,
    figures:
      `p99 alone ${waits('alone')} ms, next to the lists ${waits('together')} ms, ` +
      `${ofPermitted.toFixed(2)} of what is permitted; ${served} of ${asked} served; ` +
      `${failure ?? 'no modest one failed'}`,
  }
}

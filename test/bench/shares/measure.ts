/**
 * One greedy client at the rate that it is permitted, next to ten modest ones: how long these wait, and how long without it.
 * Each client has an address of its own. The 99th percentile may be twice the one alone, or 50 ms more.
 */
import { randomHex, systemRandom } from '@quorumscan/base'
import { type RunningCluster, startCluster } from 'quorumscan/testing'
import { startChild } from '../../support/child.ts'
import { createUser } from '../../support/client.ts'
import type { Asked, ClientsArgument, Waits } from '../../support/clients-child.ts'
import { nodeUrl, PROXY_PATH } from '../lookups.ts'
import { registerNames } from '../proxy/names.ts'
import { atMost, print, printRow, round } from '../report.ts'
import { inTurn } from '../turns.ts'

export type SharesOptions = { readonly turns: number; readonly ms: number }

const CLIENTS = 'support/clients-child'
const NAMES = 16
/** What `quorumscan run` has. */
const UNITS_PER_SECOND = 200
const MODEST = Array.from({ length: 10 }, (_, index) => `127.0.3.${index + 1}`)
const GREEDY = '127.0.4.1'
const TIMES_MAX = 2
const MORE_MS_MAX = 50

type Pool = {
  readonly what: string
  /** What each modest client asks, five times a second. */
  readonly modest: Asked
  /** What the greedy client sends at once at the start of each second. */
  readonly greedy: Asked & { readonly perSecond: number }
}

export async function measureShares(options: SharesOptions): Promise<void> {
  await using cluster = await startCluster({ nodes: 4, basePort: 0, rateLimit: UNITS_PER_SECOND })
  // Users and names are made at the same rate.
  await registerNames(cluster, NAMES)
  for (const { what, modest, greedy } of await poolsOf(cluster)) {
    await using own = startChild(CLIENTS, {
      ...modest,
      addresses: MODEST,
      perSecond: 5,
      isBurst: false,
      ms: options.ms,
    } satisfies ClientsArgument)
    await own.result<Waits>()
    await using other = startChild(CLIENTS, {
      ...greedy,
      addresses: [GREEDY],
      isBurst: true,
      ms: options.ms,
    } satisfies ClientsArgument)
    await other.result<Waits>()
    const slices = await inTurn(options.turns, {
      alone: () => own.again<Waits>(),
      together: async () => {
        const [waits] = await Promise.all([own.again<Waits>(), other.again<Waits>()])
        return waits
      },
    })
    const p99 = ({ p99Ms }: Waits) => p99Ms
    const failures = [...slices.alone, ...slices.together].flatMap(({ failure }) => failure ?? [])
    if (failures.length > 0) throw new Error(`${what}: a modest client got ${failures[0]}`)
    print(
      `${what}: p99 alone ${slices.alone.map(p99).map(round).join(', ')} ms, together ${slices.together.map(p99).map(round).join(', ')} ms`,
    )
    printRow({
      what: `${what}: p99 of modest clients ÷ what is permitted`,
      values: slices.together.map((together, turn) => {
        const alone = p99(slices.alone[turn] as Waits) // Equal number of turns.
        return p99(together) / Math.max(TIMES_MAX * alone, alone + MORE_MS_MAX)
      }),
      budget: atMost(1),
    })
  }
}

async function poolsOf(cluster: RunningCluster): Promise<readonly Pool[]> {
  const { validator } = cluster.urls
  const node = nodeUrl(cluster)
  const get = (url: string, path: string, headers: Record<string, string> = {}): Asked => ({
    url,
    method: 'GET',
    path,
    headers,
    bodies: [],
  })
  const byName = '/ans-entries/by-name/bench-0000.unverified.ns'
  const atNode = get(node, `/v0${byName}`)
  const atProxy = get(validator, `${PROXY_PATH}${byName}`)
  const head = Number((await fetch(`${node}/v0/dso`)).headers.get('x-ledger-offset'))
  const user = await createUser(cluster, `shares-${randomHex(systemRandom, 4)}`, '1000.0')
  const wallet = get(validator, '/v0/wallet/balance', { authorization: `Bearer ${user.token}` })
  const batch = JSON.stringify({
    lookups: Array.from({ length: 100 }, () => ({ name: 'bench-0000.unverified.ns' })),
  })
  const lookups = (url: string, path: string): Asked => ({
    url,
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    bodies: [batch],
  })
  return [
    {
      what: 'a node, bursts of lookups',
      modest: atNode,
      greedy: { ...atNode, perSecond: UNITS_PER_SECOND },
    },
    {
      what: 'a node, batches',
      modest: atNode,
      greedy: { ...lookups(node, '/v0/ans-entries/batch'), perSecond: 2 },
    },
    {
      what: 'a node, reads that wait for an offset',
      modest: atNode,
      greedy: {
        ...atNode,
        headers: { 'x-read-at-offset': String(head + 900) },
        perSecond: UNITS_PER_SECOND,
      },
    },
    {
      what: 'a node, long polls',
      modest: atNode,
      greedy: {
        ...get(node, `/v0/state-statements?after=${Number.MAX_SAFE_INTEGER}`),
        perSecond: UNITS_PER_SECOND,
      },
    },
    {
      what: 'the proxy, bursts of lookups',
      modest: atProxy,
      greedy: { ...atProxy, perSecond: UNITS_PER_SECOND },
    },
    {
      what: 'the proxy, batches',
      modest: atProxy,
      greedy: { ...lookups(validator, `${PROXY_PATH}/ans-entries/batch`), perSecond: 2 },
    },
    {
      what: 'the wallet, balances',
      modest: wallet,
      greedy: { ...wallet, perSecond: UNITS_PER_SECOND },
    },
    {
      what: 'a node, pages',
      modest: atNode,
      greedy: { ...get(node, '/v0/ans-entries?page_size=1000'), perSecond: 2 },
    },
  ]
}
